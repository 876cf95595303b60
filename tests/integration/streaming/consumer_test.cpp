#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/streaming/fixture.hpp"
#include "streaming/scripts.hpp"
#include "support/round_trips.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

class Consumer : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        consumer.start();
        provider.start();
    }

    using StreamingTest::store;
    void store(std::string const& service, std::string const& id, long long age = 0) {
        store(service, id, age, {"host", "10.0.0.5", "port", "8080"});
    }

    std::vector<std::string> all(std::string const& service) {
        return ids_of(consumer.all_instances(service));
    }

    RedisServiceProvider provider{client};
    RedisServiceConsumer consumer{client};
};

using Ids = std::vector<std::string>;

TEST_F(Consumer, FindsWhatWasRegistered) {
    auto instance = an_instance("orders", "o-1");
    instance.scheme = "https";
    instance.weight = 7;
    instance.metadata = {{"region", "eu"}, {"url", "http://x/y"}, {"text", "é中😀\n"}};
    provider.register_instance(instance);
    EXPECT_EQ(consumer.all_instances("orders"), Instances{instance});
    EXPECT_EQ(consumer.healthy_instances("orders"), Instances{instance});
    EXPECT_EQ(consumer.list_services(), Ids{"orders"});
    EXPECT_TRUE(consumer.all_instances("nosuch").empty());
}

TEST_F(Consumer, IsRefusedWhileNotRunning) {
    RedisServiceConsumer idle{client};
    EXPECT_THROW(idle.all_instances("orders"), std::logic_error);
    EXPECT_THROW(idle.healthy_instances("orders"), std::logic_error);
    EXPECT_THROW(idle.instances_by_metadata("orders", {}), std::logic_error);
    EXPECT_THROW(idle.list_services(), std::logic_error);
    idle.start();
    EXPECT_TRUE(idle.is_running());
    EXPECT_TRUE(idle.all_instances("orders").empty());
    idle.stop();
    EXPECT_THROW(idle.all_instances("orders"), std::logic_error);
}

TEST_F(Consumer, ListsInTheOrderOfHeartbeatsThenIds) {
    store("orders", "z", 3'000);
    auto const now = std::to_string(redis_now());
    for (auto const* id : {"b", "a"}) {
        redis().must({"ZADD", heartbeats_key("orders"), now, id});
        redis().must({"HSET", instance_key("orders", id), "host", "h", "port", "1"});
    }
    EXPECT_EQ(all("orders"), (Ids{"z", "a", "b"}));
}

TEST_F(Consumer, TheWindowIsThatOfRedisClock) {
    store("orders", "fresh", 89'000);
    store("orders", "old", 91'000);
    store("orders", "future", -3'600'000);
    EXPECT_EQ(all("orders"), (Ids{"fresh", "future"}));
    // Again, now that Redis' time is known beforehand.
    EXPECT_EQ(all("orders"), (Ids{"fresh", "future"}));
    ServiceConsumerConfig config;
    config.heartbeat_timeout = 60s;
    RedisServiceConsumer stricter{client, config};
    stricter.start();
    EXPECT_EQ(ids_of(stricter.all_instances("orders")), Ids{"future"});
}

TEST_F(Consumer, Defect3_AtTheBoundAnInstanceIsNotActive) {
    // Of 400 instances a millisecond apart exactly those younger than the timeout are found.
    auto const id_of = [](int i) { return "i" + std::to_string(i); };
    for (int i = 0; i < 400; ++i) {
        redis().must({"HSET", instance_key("orders", id_of(i)), "host", "h", "port", "1"});
    }
    auto const now = redis_now();
    std::vector<std::string> add{"ZADD", heartbeats_key("orders")};
    for (int i = 0; i < 400; ++i) {
        add.push_back(std::to_string(now - 90'000 + i));
        add.push_back(id_of(i));
    }
    redis().must(add);
    // The second read knows Redis' time beforehand and asks for few scores.
    for (int read = 0; read < 2; ++read) {
        auto const before = redis_now();
        auto const found = all("orders");
        auto const after_it = redis_now();
        ASSERT_FALSE(found.empty());
        // i is active while now0 − 90000 + i > t − 90000, that is i > t − now0, for t in [before,
        // after].
        auto const oldest = std::stoll(found.front().substr(1));
        EXPECT_GT(oldest, before - now);
        EXPECT_LE(oldest, after_it - now + 1);
        EXPECT_EQ(found.size(), static_cast<std::size_t>(400 - oldest));
    }
}

TEST_F(Consumer, HealthyMeansEnabledAndHealthy) {
    store("orders", "ok");
    store("orders", "off", 0, {"host", "h", "port", "1", "enabled", "false"});
    store("orders", "ill", 0, {"host", "h", "port", "1", "healthy", "false"});
    EXPECT_EQ(all("orders").size(), 3u);
    EXPECT_EQ(ids_of(consumer.healthy_instances("orders")), Ids{"ok"});
    EXPECT_EQ(ids_of(consumer.instances("orders", true)), Ids{"ok"});
    EXPECT_EQ(consumer.instances("orders", false).size(), 3u);
}

TEST_F(Consumer, FiltersAreEvaluatedByRedis) {
    store("orders", "eu", 0,
          {"host", "h", "port", "1", "metadata", R"({"region":"eu","weight":"5"})", "metrics",
           R"({"cpu":10})"});
    store("orders", "us", 0,
          {"host", "h", "port", "1", "metadata", R"({"region":"us","weight":"15"})", "metrics",
           R"({"cpu":90})", "enabled", "false"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"region", "us"}})), Ids{"us"});
    EXPECT_TRUE(consumer.healthy_instances_by_metadata("orders", {{"region", "us"}}).empty());
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"weight:>=", "5"}})),
              (Ids{"eu", "us"}));
    EXPECT_EQ(
        ids_of(consumer.instances_by_filters("orders", {{"weight:>=", "5"}}, {{"cpu:<", "50"}})),
        Ids{"eu"});
    EXPECT_EQ(ids_of(consumer.healthy_instances_by_filters("orders", {}, {{"cpu:>", "5"}})),
              Ids{"eu"});
    EXPECT_EQ(ids_of(consumer.instances_by_filters("orders", {}, {})), (Ids{"eu", "us"}));
    FilterBuilder built;
    built.metadata_eq("region", "eu").metrics_lt("cpu", 50);
    EXPECT_EQ(ids_of(consumer.instances_by_filters("orders", built.metadata(), built.metrics())),
              Ids{"eu"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders",
                                                    {{"region:!=", "us"}, {"region:!=", "asia"}})),
              Ids{"eu"});
}

TEST_F(Consumer, Defect29_NamesAreSanitisedWhereverTheyComeIn) {
    provider.register_instance(an_instance("my orders", "a:b c"));
    EXPECT_EQ(all("my orders"), Ids{"a_b-c"});
    EXPECT_EQ(all("my-orders"), Ids{"a_b-c"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("my orders", {{"x:!=", "1"}})), Ids{});
    provider.register_instance(an_instance("a:b", "1"));
    EXPECT_EQ(all("a:b"), Ids{"1"});
    auto* const service = consumer.admin();
    ASSERT_NE(service, nullptr);
    EXPECT_EQ(service->active_instances("my orders", 60s).size(), 1u);
    EXPECT_TRUE(service->instance_details("a:b", "1"));
    EXPECT_EQ(provider.send_heartbeat(an_instance("my orders", "a:b c")), HeartbeatResult::alive);
    EXPECT_THROW(consumer.all_instances(" "), std::invalid_argument);
    std::error_code error;
    EXPECT_THROW(consumer.all_instances("", error), std::invalid_argument);
}

TEST_F(Consumer, Defect33_OneOddInstanceHidesNoOther) {
    store("orders", "good", 0, {"host", "h", "port", "1", "metadata", R"({"k":"5"})"});
    store("orders", "odd", 0, {"host", "h", "port", "1", "metadata", R"({"k":{"x":1}})"});
    store("orders", "broken", 0, {"host", "h", "port", "1", "metadata", "{broken"});
    store("orders", "boolean", 0, {"host", "h", "port", "1", "metadata", R"({"k":true})"});
    store("orders", "number", 0, {"host", "h", "port", "1", "metadata", "5"});
    store("orders", "null", 0, {"host", "h", "port", "1", "metadata", "null"});
    store("orders", "string", 0, {"host", "h", "port", "1", "metadata", R"("len")"});
    redis().must({"ZADD", heartbeats_key("orders"), std::to_string(redis_now()), "text"});
    redis().must({"SET", instance_key("orders", "text"), "x"});
    EXPECT_THAT(ids_of(consumer.instances_by_metadata("orders", {{"k:>=", "1"}})),
                testing::UnorderedElementsAre("good", "boolean"))
        << "true is a text that comes after 1";
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"k", "true"}})), Ids{"boolean"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"len:!=", "1"}})), Ids{});
    EXPECT_EQ(all("orders").size(), 7u);
    EXPECT_TRUE(log.has("left out orders/text"));
}

TEST_F(Consumer, Defect34_FieldsCalledLikeTheSections) {
    store("orders", "o-1", 0,
          {"host", "h", "port", "1", "metadata", R"({"metrics":"x","metadata":"y"})"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"metrics", "x"}})), Ids{"o-1"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"metadata", "y"}})), Ids{"o-1"});
    EXPECT_EQ(ids_of(consumer.instances_by_metadata("orders", {{"metrics", "z"}})), Ids{});

    // The older form of a peer's filters, without sections.
    auto const found = [&](std::string const& filters) {
        auto const reply = eval(redis(), scripts::query_instances, {heartbeats_key("orders")},
                                {std::string{prefix}, "orders", "", "90000", filters});
        return reply.texts().size() == 3;
    };
    EXPECT_TRUE(found(R"({"metrics":"x"})"));
    EXPECT_TRUE(found(R"({"metadata":"y"})"));
    EXPECT_FALSE(found(R"({"metrics":"z"})"));
    EXPECT_FALSE(found(R"({"metadata":"z"})"));
}

TEST_F(Consumer, Defect35_AFailureIsNoEmptyList) {
    redis().must({"SET", heartbeats_key("orders"), "no sorted set"});
    std::error_code error;
    EXPECT_TRUE(consumer.all_instances("orders", error).empty());
    EXPECT_EQ(error, errc::unexpected_reply);
    EXPECT_THROW(consumer.all_instances("orders"), Error);
    consumer.instances_by_metadata("orders", {{"k", "1"}}, error);
    EXPECT_EQ(error, errc::unexpected_reply);
    consumer.healthy_instances("others", error);
    EXPECT_FALSE(error);

    redis().must({"ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-hgetall"});
    store("web", "w-1");
    auto blind = options();
    blind.url = "unix://blind:pw@" + server().socket();
    Client poor{blind};
    RedisServiceConsumer reader{poor};
    reader.start();
    reader.all_instances("web", error);
    EXPECT_EQ(error, errc::access_denied) << "Hashes that may not be read are no empty list";
}

TEST_F(Consumer, Defect35_ARefusalInsideAScriptIsNoEmptyList) {
    store("web", "w-1");
    redis().must({"ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-hmget"});
    auto blind = options();
    blind.url = "unix://blind:pw@" + server().socket();
    Client poor{blind};
    RedisServiceConsumer reader{poor};
    reader.start();
    std::error_code error;
    reader.instances_by_metadata("web", {{"k", "1"}}, error);
    EXPECT_EQ(error, errc::access_denied);

    redis().must(
        {"ACL", "SETUSER", "narrow", "on", ">pw", "~*:services", "~*:heartbeats", "&*", "+@all"});
    blind.url = "unix://narrow:pw@" + server().socket();
    Client without_keys{blind};
    RedisServiceConsumer narrow{without_keys};
    narrow.start();
    narrow.instances_by_metadata("web", {{"k", "1"}}, error);
    EXPECT_EQ(error, errc::access_denied);
}

TEST_F(Consumer, Defect36_AThousandInstancesAreTwoRoundTrips) {
    std::vector<std::string> add{"ZADD", heartbeats_key("orders")};
    auto const now = std::to_string(redis_now());
    for (int i = 0; i < 1'000; ++i) {
        auto const id = "i" + std::to_string(i);
        add.push_back(now);
        add.push_back(id);
        redis().must({"HSET", instance_key("orders", id), "host", "h", "port", "1", "metadata",
                      R"({"k":"1"})"});
    }
    redis().must(add);
    RoundTrips counted{server()};
    auto through = options();
    through.url = counted.url();
    Client counting{through};
    RedisServiceConsumer reader{counting};
    reader.start();
    reader.all_instances("orders");
    std::size_t found = 0;
    EXPECT_EQ(counted.of([&] { found = reader.all_instances("orders").size(); }), 2);
    EXPECT_EQ(found, 1'000u);
    EXPECT_EQ(counted.of([&] { found = reader.healthy_instances("orders").size(); }), 2);
    EXPECT_EQ(found, 1'000u);
    reader.instances_by_metadata("orders", {{"k", "1"}});  // Loads the script.
    EXPECT_EQ(counted.of([&] {
        found = reader.healthy_instances_by_metadata("orders", {{"k", "1"}}).size();
    }),
              2);
    EXPECT_EQ(found, 1'000u);

    redis().must({"CONFIG", "RESETSTAT"});
    consumer.all_instances("orders");
    auto const stats = redis().must({"INFO", "commandstats"}).text;
    EXPECT_EQ(stats.find("cmdstat_eval"), std::string::npos) << "no script in unfiltered reads";
    EXPECT_NE(stats.find("cmdstat_hgetall:calls=1000,"), std::string::npos);
}

TEST_F(Consumer, Defect52_FractionalAndHugeScoresAreScores) {
    store("orders", "half");
    redis().must({"ZADD", heartbeats_key("orders"), std::to_string(redis_now()) + ".5", "half"});
    store("orders", "huge");
    redis().must({"ZADD", heartbeats_key("orders"), "1e17", "huge"});
    store("orders", "endless");
    redis().must({"ZADD", heartbeats_key("orders"), "inf", "endless"});
    store("orders", "negative");
    redis().must({"ZADD", heartbeats_key("orders"), "-inf", "negative"});
    EXPECT_EQ(all("orders"), (Ids{"half", "huge", "endless"}));
    EXPECT_EQ(consumer.admin()->active_instances("orders", 60s).size(), 3u);
}

TEST_F(Consumer, ShapesThatPeersLeaveBehindAreNoInstances) {
    store("orders", "phantom", 0, {"healthy", "false"});
    store("orders", "metrics", 0, {"metrics", R"({"clientInflight":1})"});
    store("orders", "gone", 0, {});
    store("orders", "odd", 0, {"host", "h", "port", "80.5"});
    store("orders", "good");
    EXPECT_EQ(all("orders"), Ids{"good"});
    EXPECT_TRUE(log.has("orders/odd"));
    EXPECT_FALSE(log.has("phantom"));
}

TEST_F(Consumer, RawNamesOfPeersAreRead) {
    store("orders", "box:80");
    EXPECT_EQ(all("orders"), Ids{"box:80"});
}

TEST_F(Consumer, Defect59_SettingsAreUsed) {
    ServiceConsumerConfig config;
    config.key_prefix = "mine";
    config.enable_admin_service = false;
    RedisServiceConsumer own{client, config};
    own.start();
    store("orders", "o-1");
    EXPECT_TRUE(own.all_instances("orders").empty());
    EXPECT_EQ(own.admin(), nullptr);
    config.heartbeat_timeout = 0s;
    EXPECT_THROW((RedisServiceConsumer{client, config}), std::invalid_argument);
}

TEST_F(Consumer, Defect59_SettingsOfTheNamingServiceAreUsed) {
    NamingServiceConfig config;
    config.key_prefix = "mine";
    config.heartbeat_timeout = 30s;
    config.auto_reregister = false;
    HeartbeatConfig heartbeat;
    heartbeat.heartbeat_interval = 0ms;
    RedisNamingService naming{client, config, heartbeat};
    naming.start();
    auto const instance = an_instance("orders", "o-1");
    naming.register_instance(instance);
    std::string const key = "mine:services:orders:instance:o-1";
    EXPECT_NEAR(static_cast<double>(redis().must({"TTL", key}).integer), 30, 1);
    auto const heard_of = [&](long long age) {
        redis().must(
            {"ZADD", "mine:services:orders:heartbeats", std::to_string(redis_now() - age), "o-1"});
    };
    heard_of(25'000);
    EXPECT_EQ(naming.discover("orders"), Instances{instance});
    heard_of(35'000);
    EXPECT_EQ(naming.discover("orders"), Instances{});
    redis().must({"DEL", key});
    EXPECT_EQ(naming.send_heartbeat(instance), HeartbeatResult::gone);
}

TEST_F(Consumer, Defect61_AnotherClockIsToldAndThatOfRedisCounts) {
    auto const seen_at = [&](std::chrono::seconds offset, std::string const& service) {
        RoundTrips other_clock{server(), offset};
        auto through = options();
        through.url = other_clock.url();
        Client shifted{through};
        RedisServiceConsumer reader{shifted};
        reader.start();
        reader.all_instances(service);
        return ids_of(reader.all_instances(service));
    };
    store("orders", "fresh");
    store("orders", "old", 250'000);
    EXPECT_EQ(seen_at(1s, "orders"), Ids{"fresh"});
    EXPECT_FALSE(log.has("clock")) << "a second is no difference";
    EXPECT_EQ(seen_at(-200s, "orders"), (Ids{"old", "fresh"}));
    EXPECT_EQ(log.count("this machine's clock and that of Redis differ by 20"), 1u);
    EXPECT_EQ(seen_at(200s, "orders"), Ids{});
    EXPECT_EQ(log.count("this machine's clock and that of Redis differ by -"), 1u);
}

TEST_F(Consumer, TheNamingServiceIsBoth) {
    NamingServiceConfig config;
    config.heartbeat_timeout = 30s;
    RedisNamingService naming{client, config};
    EXPECT_THROW(naming.discover("orders"), std::logic_error);
    EXPECT_FALSE(naming.is_running());
    naming.start();
    EXPECT_TRUE(naming.is_running());
    auto instance = an_instance("orders", "o-1");
    instance.metadata["region"] = "eu";
    naming.register_instance(instance);
    EXPECT_NEAR(static_cast<double>(redis().must({"TTL", instance_key("orders", "o-1")}).integer),
                30, 1);
    EXPECT_EQ(naming.heartbeat(instance), HeartbeatResult::alive);
    std::vector<ServiceInstance> const batch{instance};
    EXPECT_EQ(naming.batch_heartbeat(batch), std::vector{HeartbeatResult::not_due});
    EXPECT_EQ(naming.discover("orders"), Instances{instance});
    EXPECT_EQ(naming.discover_healthy("orders"), Instances{instance});
    EXPECT_EQ(naming.discover_by_metadata("orders", {{"region", "eu"}}), Instances{instance});
    EXPECT_EQ(naming.discover_healthy_by_metadata("orders", {{"region", "us"}}), Instances{});
    std::error_code error = make_error_code(errc::timeout);
    EXPECT_EQ(naming.discover("orders", error), Instances{instance});
    EXPECT_FALSE(error);
    redis().must({"SET", heartbeats_key("broken"), "x"});
    Filters const filters{{"region", "eu"}};
    auto const reported = [&](auto call) {
        error.clear();
        call();
        return error == errc::unexpected_reply;
    };
    EXPECT_TRUE(reported([&] { naming.discover("broken", error); }));
    EXPECT_TRUE(reported([&] { naming.discover_healthy("broken", error); }));
    EXPECT_TRUE(reported([&] { naming.discover_by_metadata("broken", filters, error); }));
    EXPECT_TRUE(reported([&] { naming.discover_healthy_by_metadata("broken", filters, error); }));
    EXPECT_EQ(naming.instances_by_filters("orders", {{"region", "eu"}}, {}), Instances{instance});
    EXPECT_EQ(naming.healthy_instances_by_filters("orders", {}, {{"cpu", "1"}}), Instances{});
    EXPECT_EQ(naming.instances("orders", true), Instances{instance});
    EXPECT_EQ(naming.list_services(), Ids{"orders"});
    ASSERT_NE(naming.admin(), nullptr);
    EXPECT_EQ(naming.admin()->all_services(), Ids{"orders"});
    EXPECT_EQ(naming.config().heartbeat_timeout, 30s);
    naming.deregister_instance(instance);
    EXPECT_EQ(naming.discover("orders"), Instances{});
    naming.stop();
    EXPECT_FALSE(naming.is_running());
    EXPECT_THROW(naming.discover("orders"), std::logic_error);
    config.enable_admin_service = false;
    EXPECT_EQ((RedisNamingService{client, config}.admin()), nullptr);
}

}  // namespace
}  // namespace rollcall::streaming::test

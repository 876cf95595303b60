#include <gtest/gtest.h>
#include <thread>

#include "integration/streaming/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

class Batch : public StreamingTest {
protected:
    Batch() { heartbeat.heartbeat_interval = 0ms; }

    static std::vector<ServiceInstance> many(std::size_t count, std::string const& service) {
        std::vector<ServiceInstance> result;
        for (std::size_t i = 0; i < count; ++i) {
            result.push_back(an_instance(service, "i" + std::to_string(i)));
        }
        return result;
    }

    long long calls(std::string const& command) {
        auto const info = redis().must({"INFO", "commandstats"}).text;
        auto const at = info.find("cmdstat_" + command + ":calls=");
        if (at == std::string::npos) return 0;
        return std::stoll(info.substr(info.find('=', at) + 1));
    }

    HeartbeatConfig heartbeat;
};

TEST_F(Batch, AThousandHeartbeatsAreEightScriptsInOneRoundTrip) {
    RoundTrips counted{server()};
    ClientOptions through = options();
    through.url = counted.url();
    Client counting{through};
    RedisServiceProvider provider{counting, {}, heartbeat};
    provider.start();
    auto const instances = many(1'000, "orders");
    RedisServiceProvider direct{client};
    direct.start();
    for (auto const& instance : instances) direct.register_instance(instance);
    provider.batch_send_heartbeats(instances);  // Loads the script.
    redis().must({"CONFIG", "RESETSTAT"});
    std::vector<HeartbeatResult> results;
    auto const round_trips =
        counted.of([&] { results = provider.batch_send_heartbeats(instances); });
    EXPECT_EQ(round_trips, 1);
    EXPECT_EQ(calls("evalsha"), 8);
    EXPECT_EQ(calls("zadd"), 8) << "all members of a call at once";
    EXPECT_EQ(calls("hmget"), 1'000);
    EXPECT_EQ(calls("hset"), 1'000);
    EXPECT_EQ(calls("expire"), 1'000);
    EXPECT_EQ(results, std::vector<HeartbeatResult>(1'000, HeartbeatResult::alive));
}

TEST_F(Batch, OneBadNameTouchesNoOther) {
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    auto instances = many(3, "orders");
    for (auto const& instance : instances) provider.register_instance(instance);
    instances.insert(instances.begin() + 1, an_instance("orders", "  "));
    instances.push_back(an_instance("", "x"));
    instances.push_back(an_instance("orders", "unknown"));
    redis().must({"DEL", instance_key("orders", "i2")});
    redis().must({"SET", instance_key("orders", "i2"), "no hash"});
    EXPECT_EQ(
        provider.batch_send_heartbeats(instances),
        (std::vector{HeartbeatResult::alive, HeartbeatResult::failed, HeartbeatResult::alive,
                     HeartbeatResult::failed, HeartbeatResult::failed, HeartbeatResult::gone}));
    EXPECT_EQ(redis().must({"TYPE", instance_key("orders", "i2")}).text, "string");
}

TEST_F(Batch, ABrokenServiceTouchesNoOther) {
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    std::vector<ServiceInstance> const instances{an_instance("a", "i"), an_instance("b", "i")};
    for (auto const& instance : instances) provider.register_instance(instance);
    redis().must({"SET", heartbeats_key("a"), "no sorted set"});
    EXPECT_EQ(provider.batch_send_heartbeats(instances),
              (std::vector{HeartbeatResult::failed, HeartbeatResult::alive}));
    EXPECT_TRUE(log.has("WRONGTYPE"));
}

TEST_F(Batch, AnEmptyBatchSendsNothing) {
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    EXPECT_TRUE(provider.batch_send_heartbeats({}).empty());
}

TEST_F(Batch, ManyServicesModesAndLosses) {
    heartbeat.enable_metadata_change_detection = true;
    heartbeat.metadata_update_interval = 0s;
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    std::vector<ServiceInstance> instances;
    std::vector<HeartbeatResult> expected;
    for (int s = 0; s < 3; ++s) {
        for (auto& instance : many(300, "s" + std::to_string(s))) instances.push_back(instance);
    }
    for (std::size_t i = 0; i < instances.size(); ++i) {
        provider.register_instance(instances[i]);
        auto const kind = i % 3;
        if (kind == 1) instances[i].metadata["n"] = std::to_string(i);
        if (kind == 2) {
            redis().must(
                {"DEL", instance_key(instances[i].service_name, instances[i].instance_id)});
        }
        expected.push_back(kind == 0   ? HeartbeatResult::alive
                           : kind == 1 ? HeartbeatResult::metadata_updated
                                       : HeartbeatResult::reregistered);
    }
    heard();
    EXPECT_EQ(provider.batch_send_heartbeats(instances), expected);
    std::map<std::string, int> actions;
    for (auto const& message : heard()) ++actions[message.action];
    EXPECT_EQ(actions, (std::map<std::string, int>{{"ADDED", 300}, {"UPDATED", 300}}));
    EXPECT_EQ(redis().must({"HGET", instance_key("s1", "i1"), "metadata"}).text, R"({"n":"301"})");
    for (int s = 0; s < 3; ++s) {
        EXPECT_EQ(redis().must({"ZCARD", heartbeats_key("s" + std::to_string(s))}).integer, 300);
    }
}

TEST_F(Batch, LargeOnesTakeSeveralRounds) {
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    auto const instances = many(17'500, "orders");
    std::size_t const own = 2'500;
    std::vector<HeartbeatResult> expected(instances.size(), HeartbeatResult::gone);
    for (std::size_t i = 0; i < own; ++i) {
        // At the end, so that the second round has some, too.
        auto const at = i % 2 == 0 ? i : instances.size() - i;
        provider.register_instance(instances[at]);
        expected[at] = HeartbeatResult::reregistered;
    }
    redis().must({"FLUSHALL"});
    EXPECT_EQ(provider.batch_send_heartbeats(instances), expected);
    EXPECT_EQ(redis().must({"ZCARD", heartbeats_key("orders")}).integer,
              static_cast<long long>(own));
    for (auto& each : expected) {
        if (each == HeartbeatResult::reregistered) each = HeartbeatResult::alive;
    }
    EXPECT_EQ(provider.batch_send_heartbeats(instances), expected);
}

TEST_F(Batch, LargeDescriptionsTravelInSmallerCalls) {
    heartbeat.enable_metadata_change_detection = true;
    heartbeat.metadata_update_interval = 0s;
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    auto instances = many(20, "orders");
    for (auto& instance : instances) {
        provider.register_instance(instance);
        instance.metadata["big"] = std::string(60'000, 'x');
    }
    redis().must({"CONFIG", "RESETSTAT"});
    EXPECT_EQ(provider.batch_send_heartbeats(instances),
              std::vector<HeartbeatResult>(20, HeartbeatResult::metadata_updated));
    EXPECT_GE(calls("evalsha") + calls("eval"), 5) << "at most 256 KiB a call";
}

TEST_F(Batch, BringsNothingBackThatIsDeregisteredMeanwhile) {
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    // Scripts that Redis does not know are sent again, and may then be carried out in another
    // order.
    for (int attempt = 0; attempt < 300; ++attempt) {
        auto const instance = an_instance("orders", "o-1");
        provider.register_instance(instance);
        redis().must({"DEL", instance_key("orders", "o-1")});
        redis().must({"SCRIPT", "FLUSH"});
        provider.deregister_instance(an_instance("orders", "another"));
        std::thread beating{[&] { provider.batch_send_heartbeats({&instance, 1}); }};
        for (int i = 0; i < attempt * 20; ++i) std::this_thread::yield();
        provider.deregister_instance(instance);
        beating.join();
        ASSERT_EQ(redis().must({"EXISTS", instance_key("orders", "o-1")}).integer, 0)
            << "attempt " << attempt;
    }
}

}  // namespace
}  // namespace rollcall::streaming::test

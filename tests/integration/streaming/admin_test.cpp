#include <gtest/gtest.h>

#include "integration/streaming/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

class Admin : public StreamingTest {
protected:
    RegistryAdminService admin{client};
};

TEST_F(Admin, L20_TwoOfThreeAreHealthy) {
    for (auto const* id : {"a", "b", "c"}) {
        store("orders", id, 1'000,
              {"host", "h", "port", "1", "healthy", id[0] == 'c' ? "false" : "true"});
    }
    auto const health = admin.registry_health();
    EXPECT_EQ(health.total_services, 1u);
    EXPECT_EQ(health.total_instances, 3u);
    EXPECT_EQ(health.active_instances, 3u);
    EXPECT_EQ(health.healthy_instances, 2u);
    EXPECT_EQ(health.healthy_rate, 66.66666666666666);
    EXPECT_NEAR(static_cast<double>(health.timestamp.count()), static_cast<double>(redis_now()),
                2'000);
    auto const details = admin.service_details("orders");
    EXPECT_EQ(details.total_instances, 3u);
    EXPECT_EQ(details.healthy_rate(), 66.66666666666666);
    EXPECT_EQ(details.enabled_rate(), 100.0);
}

TEST_F(Admin, NothingIsHealthyWhereNothingIs) {
    auto const health = admin.registry_health();
    EXPECT_EQ(health.total_services, 0u);
    EXPECT_EQ(health.healthy_rate, 0.0);
    EXPECT_GT(health.timestamp.count(), 0);
    auto const details = admin.service_details("nosuch");
    EXPECT_TRUE(details.instances.empty());
    EXPECT_EQ(details.healthy_rate(), 0.0);
    EXPECT_FALSE(details.aggregated_metrics);
    EXPECT_FALSE(admin.instance_details("nosuch", "x"));
    EXPECT_TRUE(admin.instance_metrics("nosuch", "x").empty());
    EXPECT_TRUE(admin.all_services().empty());
    EXPECT_TRUE(admin.cleanup_expired_instances(0ms).empty());
}

TEST_F(Admin, Defect71_SilentInstancesCountInTheTotal) {
    store("orders", "fresh", 0, {"host", "h", "port", "1"});
    store("orders", "silent", 300'000, {"host", "h", "port", "1", "ephemeral", "false"});
    auto const health = admin.registry_health();
    EXPECT_EQ(health.total_instances, 2u);
    EXPECT_EQ(health.active_instances, 1u);
    EXPECT_EQ(health.healthy_rate, 100.0);
}

TEST_F(Admin, DetailsAreWhatIsStored) {
    store("orders", "o-1", 5'000,
          {"host",
           "h",
           "port",
           "8080",
           "protocol",
           "weird",
           "enabled",
           "FALSE",
           "healthy",
           "true",
           "weight",
           "x",
           "ephemeral",
           "false",
           "registrationTime",
           "1760000000123",
           "lastHeartbeatTime",
           "1760000000124",
           "lastMetadataUpdate",
           "soon",
           "metadata",
           R"({"n":1,"t":true,"s":"x"})",
           "metrics",
           R"({"cpu":45.5,"jvm":{"heap":3}})"});
    auto const found = admin.instance_details("orders", "o-1");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->host, "h");
    EXPECT_EQ(found->port, 8080);
    EXPECT_EQ(found->protocol, "weird");
    EXPECT_FALSE(found->enabled);
    EXPECT_TRUE(found->healthy);
    EXPECT_FALSE(found->ephemeral);
    EXPECT_EQ(found->weight, 1);
    EXPECT_EQ(found->registration_time, 1'760'000'000'123ms);
    EXPECT_EQ(found->last_heartbeat_time, 1'760'000'000'124ms);
    EXPECT_EQ(found->last_metadata_update, 0ms);
    ASSERT_TRUE(found->metadata);
    EXPECT_EQ(found->metadata->at("n"), AdminValue{std::int64_t{1}});
    EXPECT_EQ(found->metadata->at("t"), AdminValue{true});
    EXPECT_EQ(found->metrics.at("cpu"), AdminValue{45.5});
    EXPECT_EQ(admin.instance_metrics("orders", "o-1"), found->metrics);

    auto const active = admin.active_instances("orders", 60s);
    ASSERT_EQ(active.size(), 1u);
    auto const delay = active[0].heartbeat_delay();
    EXPECT_GE(delay, 5s);
    EXPECT_LT(delay, 10s) << "by the score, not by the Hash";
    EXPECT_TRUE(active[0].is_expired(1s));
    EXPECT_FALSE(active[0].is_expired(60s));
    EXPECT_TRUE(admin.active_instances("orders", 1s).empty());
    EXPECT_THROW(admin.active_instances("orders", -1s), std::invalid_argument);
}

TEST_F(Admin, MetricsAreSummedUp) {
    store("orders", "a", 1'000, {"host", "h", "port", "1", "metrics", R"({"cpu":10,"a":{"b":1}})"});
    store("orders", "b", 1'000, {"host", "h", "port", "1", "metrics", R"({"cpu":30,"a.b":3})"});
    store("orders", "c", 1'000, {"host", "h", "port", "1", "metrics", "broken"});
    auto const details = admin.service_details("orders");
    ASSERT_TRUE(details.aggregated_metrics);
    auto const& metrics = details.aggregated_metrics->metrics;
    EXPECT_EQ(metrics.at("cpu"), (MetricSummary{20, 10, 30, 2}));
    EXPECT_EQ(metrics.at("a.b"), (MetricSummary{2, 1, 3, 2}));
    EXPECT_GE(details.aggregated_metrics->avg_heartbeat_delay, 1'000);
    EXPECT_LT(details.aggregated_metrics->avg_heartbeat_delay, 6'000);
    EXPECT_EQ(details.total_instances, 3u);
}

TEST_F(Admin, PhantomsAreNoInstances) {
    store("orders", "phantom", 0, {"healthy", "false"});
    store("orders", "bare", 0, {});
    store("orders", "text", 0, {});
    redis().must({"SET", instance_key("orders", "text"), "x"});
    store("orders", "good", 0, {"host", "h", "port", "1"});
    EXPECT_EQ(admin.active_instances("orders", 60s).size(), 1u);
    EXPECT_EQ(admin.registry_health().active_instances, 1u);
}

TEST_F(Admin, Defect16_CleanupByHandAnnouncesAndHealsTheIndex) {
    store("orders", "dead", 100'000, {"host", "h", "port", "1", "ephemeral", "true"});
    store("orders", "bare", 200'000, {});
    store("mixed", "kept", 100'000, {"host", "h", "port", "1", "ephemeral", "false"});
    store("mixed", "fresh", 0, {"host", "h", "port", "1"});
    redis().must({"SADD", index_key(), "stale"});
    redis().must({"SADD", index_key(), "broken"});
    redis().must({"SET", heartbeats_key("broken"), "x"});
    EXPECT_EQ(
        admin.cleanup_expired_instances(90s),
        (std::map<std::string, int>{{"broken", -1}, {"mixed", 0}, {"orders", 2}, {"stale", 0}}));
    EXPECT_EQ(heard(), (std::vector<Told>{{"REMOVED", "orders", "bare", false},
                                          {"REMOVED", "orders", "dead", true}}));
    EXPECT_EQ(admin.all_services(), (std::vector<std::string>{"broken", "mixed"}));
    EXPECT_EQ(redis().must({"EXISTS", instance_key("orders", "dead")}).integer, 0);
    EXPECT_EQ(redis().must({"HGET", instance_key("mixed", "kept"), "healthy"}).text, "false");
    EXPECT_THROW(admin.cleanup_expired_instances(-1ms), std::invalid_argument);
}

TEST_F(Admin, Defect52_AFractionalScoreSpoilsNothing) {
    store("orders", "a", 0, {"host", "h", "port", "1"});
    redis().must({"ZADD", heartbeats_key("orders"), std::to_string(redis_now()) + ".5", "a"});
    EXPECT_EQ(admin.service_details("orders").total_instances, 1u);
}

TEST_F(Admin, ScoresThatAreNoTimeSpoilNothing) {
    for (auto const* id : {"good", "endless", "huge", "negative"}) {
        store("orders", id, 1'000, {"host", "h", "port", "1", "metrics", R"({"cpu":1})"});
    }
    auto const score = [&](std::string const& value, std::string const& id) {
        redis().must({"ZADD", heartbeats_key("orders"), value, id});
    };
    score("inf", "endless");
    score("1e300", "huge");
    score("-inf", "negative");
    auto const details = admin.service_details("orders");
    EXPECT_EQ(details.total_instances, 3u);
    for (auto const& instance : details.instances) {
        if (instance.instance_id == "good") continue;
        EXPECT_GT(instance.last_heartbeat_time, 24h * 365 * 1'000'000) << instance.instance_id;
        EXPECT_LT(instance.heartbeat_delay(), 0ms);
        EXPECT_FALSE(instance.is_expired(1ms));
    }
    ASSERT_TRUE(details.aggregated_metrics);
    EXPECT_GE(details.aggregated_metrics->avg_heartbeat_delay, 1'000.0 / 3);
    EXPECT_LT(details.aggregated_metrics->avg_heartbeat_delay, 6'000.0 / 3);
    EXPECT_EQ(admin.registry_health().active_instances, 3u);
}

TEST_F(Admin, TimesThatNoClockShowsAreCut) {
    store("orders", "o-1", 0,
          {"host", "h", "port", "1", "lastHeartbeatTime", "-9223372036854775808",
           "registrationTime", "9223372036854775807"});
    auto const found = admin.instance_details("orders", "o-1");
    ASSERT_TRUE(found);
    EXPECT_LT(found->last_heartbeat_time, -24h * 365 * 1'000'000);
    EXPECT_GT(found->registration_time, 24h * 365 * 1'000'000);
    EXPECT_GT(found->heartbeat_delay(), 24h * 365 * 1'000'000);
    EXPECT_TRUE(found->is_expired(1ms));
}

TEST_F(Admin, Defect53_AFailureIsAnErrorWithItsReason) {
    redis().must({"SET", index_key(), "no set"});
    std::error_code error;
    EXPECT_EQ(admin.registry_health(error).total_services, 0u);
    EXPECT_EQ(error, errc::unexpected_reply);
    try {
        admin.registry_health();
        FAIL() << "no error";
    } catch (Error const& failure) {
        EXPECT_NE(failure.detail().find(index_key()), std::string::npos) << failure.detail();
    }
    admin.all_services(error);
    EXPECT_EQ(error, errc::unexpected_reply);
    admin.cleanup_expired_instances(1s, error);
    EXPECT_EQ(error, errc::unexpected_reply);
}

TEST_F(Admin, Defect53_WhatMayNotBeReadIsNotLeftOutOfTheFigures) {
    store("orders", "a", 0, {"host", "h", "port", "1"});
    for (auto const* const command : {"smembers", "zcard", "zrangebyscore", "hmget"}) {
        SCOPED_TRACE(command);
        redis().must({"ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all",
                      std::string{"-"} + command});
        auto blind = options();
        blind.url = "unix://blind:pw@" + server().socket();
        Client poor{blind};
        RegistryAdminService service{poor};
        std::error_code error;
        EXPECT_EQ(service.registry_health(error).total_services, 0u);
        EXPECT_EQ(error, errc::access_denied);
    }
}

TEST_F(Admin, TheHealthOfManyServicesIsThreeRoundTrips) {
    for (int i = 0; i < 100; ++i) {
        auto const service = "s" + std::to_string(i);
        store(service, "a", 0, {"host", "h", "port", "1", "healthy", "TRUE"});
        store(service, "b", 0, {"host", "h", "port", "1", "healthy", "no"});
        store(service, "silent", 300'000, {"host", "h", "port", "1"});
    }
    RoundTrips counted{server()};
    auto through = options();
    through.url = counted.url();
    Client counting{through};
    counting.wait_until_ready(10s);
    RegistryAdminService service{counting};
    RegistryHealth health;
    EXPECT_EQ(counted.of([&] { health = service.registry_health(); }), 3);
    EXPECT_EQ(health.total_services, 100u);
    EXPECT_EQ(health.total_instances, 300u);
    EXPECT_EQ(health.active_instances, 200u);
    EXPECT_EQ(health.healthy_instances, 100u);
}

TEST_F(Admin, ABrokenServiceIsLeftOutOfTheFigures) {
    store("orders", "a", 0, {"host", "h", "port", "1"});
    redis().must({"SADD", index_key(), "broken"});
    redis().must({"SET", heartbeats_key("broken"), "x"});
    auto const health = admin.registry_health();
    EXPECT_EQ(health.total_services, 2u);
    EXPECT_EQ(health.active_instances, 1u);
    EXPECT_TRUE(log.has("broken"));
}

}  // namespace
}  // namespace rollcall::streaming::test

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "integration/streaming/provider_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using Description = ProviderTest;

TEST_F(Description, AChangedDescriptionIsWrittenAndTold) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    instance.metadata["url"] = "http://x/y";
    describer.register_instance(instance);
    auto const score = redis().must({"ZSCORE", heartbeats_key("orders"), "o-1"}).text;
    instance.metadata["v"] = "2";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::metadata_updated);
    auto const stored = hash("orders", "o-1");
    EXPECT_EQ(stored.at("metadata"), R"({"url":"http://x/y","v":"2"})");
    EXPECT_EQ(stored.at("lastMetadataUpdate"), stored.at("lastHeartbeatTime"));
    EXPECT_GE(stored.at("lastHeartbeatTime"), score);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true},
                                          {"UPDATED", "orders", "o-1", true}}));
}

TEST_F(Description, ANameIsEnoughForAHeartbeatThatDescribes) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    describer.register_instance(an_instance("orders", "o-1"));
    ServiceInstance named;
    named.service_name = "orders";
    named.instance_id = "o-1";
    named.metadata["v"] = "2";
    EXPECT_EQ(describer.send_heartbeat(named), HeartbeatResult::metadata_updated);
    auto const messages = listener.drain();
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(boost::json::parse(messages[1].payload).at("instance").at("host").as_string(),
              "10.0.0.5");
}

TEST_F(Description, H15_WhatWasNotWrittenIsNotMarked) {
    HeartbeatConfig rarely = describing();
    rarely.heartbeat_interval = 3s;
    ServiceProviderConfig config;
    config.auto_reregister = false;
    RedisServiceProvider describer{client, config, rarely};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    describer.register_instance(instance);
    instance.metadata["v"] = "2";
    lose("orders", "o-1");
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::gone);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true}}));
    // Somebody else registers it: the change is still to be told, at once.
    RedisServiceProvider other{client};
    other.start();
    other.register_instance(an_instance("orders", "o-1"));
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::metadata_updated);
}

TEST_F(Description, H15_AChangedDescriptionOfALostInstanceIsRegistered) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    describer.register_instance(instance);
    lose("orders", "o-1");
    instance.metadata["v"] = "2";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::reregistered);
    EXPECT_EQ(hash("orders", "o-1").at("metadata"), R"({"v":"2"})");
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true},
                                          {"ADDED", "orders", "o-1", true}}));
}

TEST_F(Description, AnInvalidOneIsLeftOutAndTheInstanceLivesOn) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    describer.register_instance(instance);
    auto const invalid = [&](auto change) {
        auto changed = instance;
        changed.metadata["v"] = "2";
        change(changed);
        redis().must({"EXPIRE", instance_key("orders", "o-1"), "10"});
        EXPECT_EQ(describer.send_heartbeat(changed), HeartbeatResult::alive);
        EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1);
        EXPECT_EQ(hash("orders", "o-1").at("metadata"), "{}");
    };
    invalid([](auto& i) { i.metadata["v"] = "\xff"; });
    invalid([](auto& i) { i.metadata["v"] = std::string(70'000, 'x'); });
    invalid([](auto& i) { i.port = 70'000; });
    invalid([](auto& i) { i.host = "a b"; });
    EXPECT_TRUE(log.has("the new description of orders/o-1 is left out"));
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true}}));
    // What is invalid does not stand in the way of what comes after it.
    instance.metadata["v"] = "3";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::metadata_updated);
    instance.service_name = " ";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::failed);
}

TEST_F(Description, AnInvalidOneMakesNoHeartbeatDue) {
    auto rarely = describing();
    rarely.heartbeat_interval = 60s;
    RedisServiceProvider describer{client, {}, rarely};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    describer.register_instance(instance);
    instance.metadata["v"] = "\xff";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::not_due);
}

TEST_F(Description, AnInvalidOneOfALostInstanceIsNotRegistered) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    instance.metadata["v"] = "1";
    describer.register_instance(instance);
    lose("orders", "o-1");
    instance.metadata["v"] = "\xff";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::reregistered);
    EXPECT_EQ(hash("orders", "o-1").at("metadata"), R"({"v":"1"})");
}

}  // namespace
}  // namespace rollcall::streaming::test

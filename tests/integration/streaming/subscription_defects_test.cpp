// Defects of the Java module, by their numbers in section 14.2 of the layout's specification.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "integration/streaming/subscription_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using SubscriptionDefects = SubscriptionTest;

TEST_F(SubscriptionDefects, Defect23_EqualIdsInTwoServicesAreTwoInstances) {
    auto const in = [](std::string const& service, std::string const& host) {
        auto instance = an_instance(service, "same");
        instance.host = host;
        return instance;
    };
    provider.register_instance(in("orders", "10.0.0.1"));
    provider.register_instance(in("carts", "10.0.0.2"));
    HeardChanges orders;
    HeardChanges carts;
    consumer.subscribe("orders", orders.listener());
    consumer.subscribe("carts", carts.listener());
    ASSERT_TRUE(hears(carts, "current same of [same]"));
    redis().must({"DEL", instance_key("orders", "same"), heartbeats_key("orders")});
    publish(message_of(ServiceChangeAction::removed, "orders", "same", false));
    ASSERT_TRUE(hears(orders, "removed same of []"));
    EXPECT_EQ(orders.all().back().instance->host, "10.0.0.1") << "as last known of that service";
    EXPECT_THAT(told(carts, "carts"), ElementsAre("current same of [same]"));
    // And what has left is forgotten.
    publish(message_of(ServiceChangeAction::removed, "orders", "same", false));
    EXPECT_TRUE(hears(orders, "removed null of []"));
}

TEST_F(SubscriptionDefects, Defect28_WhatIsRefusedLeavesNothing) {
    HeardChanges heard;
    for (auto const* const name : {"", " ", "\t"}) {
        EXPECT_THROW(consumer.subscribe(name, heard.listener()), std::invalid_argument);
    }
    EXPECT_THROW(consumer.subscribe(std::string(600, 'a'), heard.listener()),
                 std::invalid_argument);
    EXPECT_THROW(consumer.subscribe("orders", nullptr), std::invalid_argument);
    EXPECT_THAT(redis().must({"PUBSUB", "CHANNELS", index_key() + "*"}).texts(), IsEmpty());
}

TEST_F(SubscriptionDefects, Defect28_ManyThreadsSubscribeOnce) {
    add("o-1");
    HeardChanges heard;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] { consumer.subscribe("orders", heard.listener()); });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(told(heard), ElementsAre("current o-1 of [o-1]"));
    consumer.unsubscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
}

TEST_F(SubscriptionDefects, Defect30_OneConsumerDoesNotSilenceAnother) {
    RedisServiceConsumer other{client};
    other.start();
    HeardChanges ours;
    HeardChanges theirs;
    consumer.subscribe("orders", ours.listener());
    other.subscribe("orders", theirs.listener());
    consumer.subscribe("orders", theirs.listener());
    consumer.unsubscribe("orders", ours.listener());
    consumer.unsubscribe("orders", theirs.listener());
    add("o-1");
    EXPECT_TRUE(hears(theirs, "added o-1 of [o-1]"));
    consumer.stop();
    add("o-2");
    EXPECT_TRUE(hears(theirs, "added o-2 of [o-1, o-2]"));
    EXPECT_THAT(ours.texts(), IsEmpty());
}

TEST_F(SubscriptionDefects, Defect31_WhoBecameUnhealthyIsNamed) {
    add("o-1");
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    auto sick = an_instance("orders", "o-1");
    sick.healthy = false;
    provider.register_instance(sick);
    ASSERT_TRUE(hears(heard, "updated o-1 of []"));
    EXPECT_EQ(heard.all().back().instance, sick);
}

TEST_F(SubscriptionDefects, Defect32_WithoutActionOrIdNothingIsToldAndNothingIsLost) {
    add("o-1");
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    for (auto const* const message :
         {R"({"action":null,"instanceId":"o-1"})", R"({"instanceId":"o-1"})",
          R"({"action":"UPDATED","instanceId":null})", R"({"action":"UPDATED"})",
          R"({"action":"CURRENT","instanceId":"o-1"})",
          R"({"action":"HEALTH_FAILURE","instanceId":"o-1"})",
          R"({"action":"MOVED","instanceId":"o-1"})"}) {
        publish(message);
    }
    add("o-2");
    EXPECT_THAT(told(heard), ElementsAre("current o-1 of [o-1]", "added o-2 of [o-1, o-2]"));
}

TEST_F(SubscriptionDefects, Defect57_APersistentInstanceThatIsKeptAliveStays) {
    ServiceProviderConfig config;
    config.heartbeat_timeout = 1s;
    HeartbeatConfig every_time;
    every_time.heartbeat_interval = 0ms;
    RedisServiceProvider owner{client, config, every_time};
    owner.start();
    ServiceConsumerConfig reading;
    reading.heartbeat_timeout = 1s;
    RedisServiceConsumer quick{client, reading};
    quick.start();
    auto kept = an_instance("orders", "kept");
    kept.ephemeral = false;
    auto silent = kept;
    silent.instance_id = "silent";
    owner.register_instance(kept);
    owner.register_instance(silent);
    redis().must({"SET", std::string{prefix} + ":rollcall:epoch", "an epoch"});
    HeardChanges heard;
    quick.subscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(owner.send_heartbeat(kept), HeartbeatResult::alive);
        return heard_so_far(heard, "removed silent of [kept]");
    })) << testing::PrintToString(heard.texts());
    EXPECT_FALSE(heard_so_far(heard, "removed kept of []"));
    EXPECT_EQ(ids_of(quick.healthy_instances("orders")), std::vector<std::string>{"kept"});
}

TEST_F(SubscriptionDefects, Defect64_AListenerThatThrowsIsToldOfAllThatIsThere) {
    for (auto const* const id : {"a", "b", "c"}) add(id);
    HeardChanges heard{[](HeardChange const&) { throw std::runtime_error{"a bad listener"}; }};
    HeardChanges other;
    consumer.subscribe("orders", heard.listener());
    consumer.subscribe("orders", other.listener());
    add("d");
    EXPECT_TRUE(hears(heard, "added d of [a, b, c, d]"));
    EXPECT_TRUE(hears(other, "added d of [a, b, c, d]"));
    EXPECT_EQ(heard.size(), 4);
    EXPECT_TRUE(log.has("a listener of orders threw: a bad listener"));
}

TEST_F(SubscriptionDefects, Defect65_CallsMayWaitForRedisThemselves) {
    std::atomic<int> found = 0;
    HeardChanges heard{[&](HeardChange const&) {
        found += static_cast<int>(consumer.all_instances("orders").size());
    }};
    consumer.subscribe("orders", heard.listener());
    add("o-1");
    EXPECT_TRUE(eventually([&] { return found == 1; })) << "not on the thread that reads";
}

}  // namespace
}  // namespace rollcall::streaming::test

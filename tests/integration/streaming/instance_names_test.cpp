#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "integration/streaming/provider_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

class InstanceNamesTest : public ProviderTest {
protected:
    /// The address that the last message tells of; empty when it tells of no instance.
    std::string told_host() {
        auto const messages = listener.drain();
        if (messages.empty()) return "no message";
        auto const event = boost::json::parse(messages.back().payload).as_object();
        if (!event.contains("instance")) return {};
        return std::string{event.at("instance").at("host").as_string()};
    }
};

ServiceInstance without_id() {
    ServiceInstance result;
    result.service_name = "my orders";
    result.host = "10.0.0.9";
    result.scheme = "HTTPS";
    return result;
}

TEST_F(InstanceNamesTest, AResultTellsTheStoredId) {
    EXPECT_EQ(provider.register_instance(an_instance("orders", "a:b c")).instance_id, "a_b-c");
    EXPECT_EQ(provider.deregister_instance(an_instance("orders", "a:b c")).instance_id, "a_b-c");
    std::error_code error;
    EXPECT_EQ(provider.register_instance(without_id(), error).instance_id,
              "my-orders-10.0.0.9_443");
    RedisNamingService naming{client};
    naming.start();
    EXPECT_EQ(naming.register_instance(without_id()).instance_id, "my-orders-10.0.0.9_443");
    EXPECT_EQ(naming.deregister_instance(without_id()).instance_id, "my-orders-10.0.0.9_443");
}

TEST_F(InstanceNamesTest, AMadeIdIsKeptAliveAndDeregistered) {
    RedisNamingService naming{client, {}, every_time()};
    naming.start();
    for (ServiceProvider* const each :
         {static_cast<ServiceProvider*>(&provider), static_cast<ServiceProvider*>(&naming)}) {
        auto const instance = without_id();
        auto const id = each->register_instance(instance).instance_id;
        EXPECT_EQ(each->send_heartbeat(instance), HeartbeatResult::alive);
        lose("my-orders", id);
        EXPECT_EQ(each->send_heartbeat(instance), HeartbeatResult::reregistered);
        EXPECT_TRUE(each->deregister_instance(instance).existed);
        EXPECT_EQ(keys().size(), 0u);
        EXPECT_EQ(each->send_heartbeat(instance), HeartbeatResult::gone);
    }
}

TEST_F(InstanceNamesTest, WithoutIdAndUsableAddressThereIsNoName) {
    auto nameless = without_id();
    nameless.host = "";
    EXPECT_EQ(provider.send_heartbeat(nameless), HeartbeatResult::failed);
    EXPECT_THROW(provider.deregister_instance(nameless), std::invalid_argument);
    nameless = without_id();
    nameless.port = 70'000;
    EXPECT_EQ(provider.send_heartbeat(nameless), HeartbeatResult::failed);
    EXPECT_THROW(provider.deregister_instance(nameless), std::invalid_argument);
}

TEST_F(InstanceNamesTest, WhateverIsListedCanBeDeregistered) {
    RedisServiceConsumer consumer{client};
    consumer.start();
    auto const peer = [&](std::string const& id, std::vector<std::string> const& fields) {
        store("orders", id, 0, fields);
        auto const listed = consumer.all_instances("orders");
        ASSERT_EQ(ids_of(listed), std::vector{id});
        EXPECT_TRUE(provider.deregister_instance(listed[0]).existed);
        EXPECT_EQ(keys().size(), 0u);
        EXPECT_EQ(told_host(), "") << id;
    };
    peer("port", {"host", "h", "port", "70000"});
    peer("class", {"host", "h", "port", "1", "metadata", R"({"@class":"java.util.HashMap"})"});
    peer("host", {"host", "a b", "port", "1"});
    peer("large",
         {"host", "h", "port", "1", "metadata", R"({"k":")" + std::string(100'000, 'x') + R"("})"});
}

TEST_F(InstanceNamesTest, OfAnInvalidDescriptionTheOwnOneIsTold) {
    provider.register_instance(an_instance("orders", "o-1"));
    auto changed = an_instance("orders", "o-1");
    changed.host = "a b";
    EXPECT_TRUE(provider.deregister_instance(changed).existed);
    EXPECT_EQ(told_host(), "10.0.0.5");
}

}  // namespace
}  // namespace rollcall::streaming::test

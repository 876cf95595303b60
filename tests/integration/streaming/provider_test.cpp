#include <boost/json/parse.hpp>
#include <gtest/gtest.h>
#include <thread>

#include "integration/streaming/provider_fixture.hpp"
#include "streaming/scripts.hpp"

namespace rollcall::streaming::test {
namespace {

using Provider = ProviderTest;

TEST_F(Provider, RegistersByRedisClock) {
    auto const before = redis_now();
    auto const result = provider.register_instance(an_instance("orders", "o-1"));
    auto const after_it = redis_now();
    EXPECT_FALSE(result.existed);
    EXPECT_TRUE(result.announced);

    auto const stored = hash("orders", "o-1");
    EXPECT_EQ(stored.size(), 11u);
    for (auto const* field : {"registrationTime", "lastHeartbeatTime", "lastMetadataUpdate"}) {
        EXPECT_GE(std::stoll(stored.at(field)), before) << field;
        EXPECT_LE(std::stoll(stored.at(field)), after_it) << field;
    }
    EXPECT_EQ(redis().must({"ZSCORE", heartbeats_key("orders"), "o-1"}).text,
              stored.at("lastHeartbeatTime"));
    EXPECT_EQ(redis().must({"SMEMBERS", index_key()}).texts(), std::vector<std::string>{"orders"});
    EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true}}));
}

TEST_F(Provider, MessagesAreThoseOfTheDesignByteForByte) {
    auto instance = an_instance("orders", "o-1");
    instance.weight = 3;
    instance.metadata = {{"region", "us"}};
    provider.register_instance(instance);
    auto const messages = listener.drain();
    ASSERT_EQ(messages.size(), 1u);
    auto const time = hash("orders", "o-1").at("registrationTime");
    EXPECT_EQ(
        messages[0].payload,
        R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent",)"
        R"("action":"ADDED","instance":{"@class":"io.github.cuihairu.redis.streaming.registry.)"
        R"(event.ServiceChangeEvent$InstanceSnapshot","enabled":true,"healthy":true,)"
        R"("host":"10.0.0.5","instanceId":"o-1","metadata":{"@class":"java.util.HashMap",)"
        R"("region":"us"},"port":8080,"protocol":"http","serviceName":"orders","weight":3},)"
        R"("instanceId":"o-1","serviceName":"orders","timestamp":)" +
            time + "}");
}

TEST_F(Provider, S8_BeforeStartHeartbeatsAreSilentAndRegistrationsRefused) {
    RedisServiceProvider idle{client};
    auto const instance = an_instance("orders", "o-1");
    EXPECT_FALSE(idle.is_running());
    EXPECT_THROW(idle.register_instance(instance), std::logic_error);
    EXPECT_THROW(idle.deregister_instance(instance), std::logic_error);
    std::error_code error;
    EXPECT_THROW(idle.register_instance(instance, error), std::logic_error);
    EXPECT_EQ(idle.send_heartbeat(instance), HeartbeatResult::not_running);
    std::vector<ServiceInstance> const batch{instance, instance};
    EXPECT_EQ(idle.batch_send_heartbeats(batch),
              (std::vector{HeartbeatResult::not_running, HeartbeatResult::not_running}));
    EXPECT_EQ(keys().size(), 0u);
}

TEST_F(Provider, StopsAndStartsAgainAndDeregistersNothing) {
    provider.register_instance(an_instance("orders", "o-1"));
    provider.stop();
    provider.stop();
    EXPECT_FALSE(provider.is_running());
    EXPECT_EQ(redis().must({"EXISTS", instance_key("orders", "o-1")}).integer, 1);
    provider.start();
    provider.start();
    EXPECT_TRUE(provider.is_running());
    EXPECT_EQ(provider.send_heartbeat(an_instance("orders", "o-1")), HeartbeatResult::alive);
}

TEST_F(Provider, BadInputIsRefusedBeforeAnythingIsSent) {
    auto const refused = [&](auto change) {
        auto instance = an_instance("orders", "o-1");
        change(instance);
        std::error_code error;
        EXPECT_THROW(provider.register_instance(instance, error), std::invalid_argument);
        EXPECT_THROW(provider.register_instance(instance), std::invalid_argument);
    };
    refused([](auto& i) { i.service_name = ""; });
    refused([](auto& i) { i.service_name = "  "; });
    refused([](auto& i) { i.host = "a b"; });
    refused([](auto& i) { i.host = ""; });
    refused([](auto& i) { i.port = 70'000; });
    refused([](auto& i) { i.metadata["k"] = std::string(1 << 20, 'x'); });
    refused([](auto& i) { i.metadata["k"] = "\xff"; });
    EXPECT_EQ(keys().size(), 0u);
    EXPECT_TRUE(heard().empty());
}

TEST_F(Provider, Defect58_NoSchemeIsRegisteredAsAnother) {
    auto instance = an_instance("orders", "o-1");
    instance.scheme = "gopher";
    EXPECT_THROW(provider.register_instance(instance), std::invalid_argument);
    instance.scheme = "grpc";
    provider.register_instance(instance);
    EXPECT_EQ(hash("orders", "o-1").at("protocol"), "grpc");
}

TEST_F(Provider, Defect6_ASanitisedIdStaysPersistent) {
    auto instance = an_instance("orders", "box:80");
    instance.ephemeral = false;
    provider.register_instance(instance);
    auto const stored = hash("orders", "box_80");
    EXPECT_EQ(stored.at("ephemeral"), "false");
    EXPECT_EQ(ttl("orders", "box_80"), -1);
}

TEST_F(Provider, Defect7_AllMessagesCarryTheStoredNames_E8) {
    auto instance = an_instance("my orders", "box:80");
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    describer.register_instance(instance);
    instance.metadata["v"] = "2";
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::metadata_updated);
    describer.deregister_instance(instance);
    auto const messages = listener.drain();
    ASSERT_EQ(messages.size(), 3u);
    for (auto const& message : messages) {
        auto const event = boost::json::parse(message.payload);
        EXPECT_EQ(event.at("instanceId").as_string(), "box_80");
        EXPECT_EQ(event.at("serviceName").as_string(), "my-orders");
        EXPECT_EQ(event.at("instance").at("instanceId").as_string(), "box_80");
        EXPECT_EQ(event.at("instance").at("serviceName").as_string(), "my-orders");
    }
}

TEST_F(Provider, Defect8_OfManyFirstRegistrationsOneIsAnAddition) {
    std::vector<std::thread> threads;
    std::atomic<int> added = 0;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) {
                auto const id = "o-" + std::to_string(i);
                if (!provider.register_instance(an_instance("orders", id)).existed) ++added;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(added, 25);
    int additions = 0;
    for (auto const& message : heard()) additions += message.action == "ADDED" ? 1 : 0;
    EXPECT_EQ(additions, 25);
}

TEST_F(Provider, Defect9_TheFirstHeartbeatAfterRegistrationIsNoUpdate) {
    RedisServiceProvider describer{client, {}, describing()};
    describer.start();
    auto instance = an_instance("orders", "o-1");
    instance.metadata["v"] = "1";
    describer.register_instance(instance);
    EXPECT_EQ(describer.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true}}));
}

TEST_F(Provider, Defect10_WithoutMetadataAllWorks) {
    auto const instance = an_instance("orders", "o-1");
    EXPECT_FALSE(provider.register_instance(instance).existed);
    EXPECT_EQ(hash("orders", "o-1").at("metadata"), "{}");
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_TRUE(provider.deregister_instance(instance).existed);
}

TEST_F(Provider, Defect11_EphemeralBecomesPersistent) {
    auto instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    instance.ephemeral = false;
    EXPECT_TRUE(provider.register_instance(instance).existed);
    EXPECT_EQ(ttl("orders", "o-1"), -1);
    instance.ephemeral = true;
    provider.register_instance(instance);
    EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1);
}

TEST_F(Provider, Defect12_AndDefect13_TheNewDescriptionReplacesTheOld) {
    redis().must({"HSET", instance_key("orders", "o-1"), "host", "old", "metrics", "{\"cpu\":1}",
                  "ephemeral", "false"});
    auto instance = an_instance("orders", "o-1");
    instance.metadata["a"] = "1";
    EXPECT_TRUE(provider.register_instance(instance).existed);
    instance.metadata.clear();
    provider.register_instance(instance);
    auto const stored = hash("orders", "o-1");
    EXPECT_EQ(stored.at("host"), "10.0.0.5");
    EXPECT_EQ(stored.at("metadata"), "{}");
    EXPECT_EQ(stored.at("ephemeral"), "true");
    EXPECT_EQ(stored.at("metrics"), "{\"cpu\":1}") << "what others store there stays";
    EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1);
}

TEST_F(Provider, Defect12_AndDefect13_WhatADocumentNamesAsNullIsGone) {
    redis().must({"HSET", instance_key("orders", "o-1"), "host", "old", "metadata", "{\"a\":1}",
                  "ephemeral", "false", "weight", "7"});
    auto const done =
        eval(redis(), scripts::register_instance,
             {index_key(), heartbeats_key("orders"), instance_key("orders", "o-1")},
             {"orders", "o-1", "", R"({"host":"h","port":1,"metadata":null,"ephemeral":null})",
              "90", channel_of("orders"), R"(","timestamp":)"});
    ASSERT_FALSE(done.is_error()) << done.text;
    auto const stored = hash("orders", "o-1");
    EXPECT_FALSE(stored.contains("metadata")) << "12";
    EXPECT_FALSE(stored.contains("ephemeral")) << "12";
    EXPECT_EQ(stored.at("weight"), "7") << "what is not named stays";
    EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1) << "13: absent is ephemeral";
}

TEST_F(Provider, Defect14_AKeyOfAnotherTypeLeavesNothingHalfWritten) {
    for (auto const& key : {index_key(), heartbeats_key("orders"), instance_key("orders", "o-1")}) {
        SCOPED_TRACE(key);
        redis().must({"FLUSHALL"});
        redis().must({"SET", key, "x"});
        std::error_code error;
        provider.register_instance(an_instance("orders", "o-1"), error);
        EXPECT_EQ(error, errc::unexpected_reply);
        provider.deregister_instance(an_instance("orders", "o-1"), error);
        EXPECT_EQ(error, errc::unexpected_reply);
        EXPECT_EQ(
            provider.send_heartbeat(an_instance("orders", "o-1")),
            key == instance_key("orders", "o-1") ? HeartbeatResult::failed : HeartbeatResult::gone);
        EXPECT_EQ(keys(), std::vector<std::string>{key});
    }
    EXPECT_TRUE(heard().empty());
}

TEST_F(Provider, ErrorsNameWhatWasAttempted) {
    redis().must({"SET", instance_key("orders", "o-1"), "x"});
    try {
        provider.register_instance(an_instance("orders", "o-1"));
        FAIL() << "no error";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), errc::unexpected_reply);
        EXPECT_NE(error.detail().find("orders/o-1"), std::string::npos) << error.detail();
        EXPECT_NE(error.detail().find("WRONGTYPE"), std::string::npos) << error.detail();
    }
}

TEST_F(Provider, Defect19_HeartbeatsAreWrittenWithNothingToReport) {
    RedisServiceProvider plain{client};  // Every 3 s, detection off.
    plain.start();
    auto const instance = an_instance("orders", "o-1");
    plain.register_instance(instance);
    redis().must({"EXPIRE", instance_key("orders", "o-1"), "10"});
    EXPECT_EQ(plain.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_NEAR(static_cast<double>(ttl("orders", "o-1")), 90, 1);
    EXPECT_EQ(plain.send_heartbeat(instance), HeartbeatResult::not_due);
}

TEST_F(Provider, Defect5_ALostInstanceIsRegisteredAgain) {
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    lose("orders", "o-1");
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::reregistered);
    EXPECT_EQ(hash("orders", "o-1").size(), 11u);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true},
                                          {"ADDED", "orders", "o-1", true}}));
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::alive);
}

TEST_F(Provider, Defect4_APhantomIsRegisteredOver) {
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    lose("orders", "o-1");
    redis().must({"HSET", instance_key("orders", "o-1"), "healthy", "false"});
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::reregistered);
    EXPECT_EQ(hash("orders", "o-1").at("healthy"), "true");
    EXPECT_EQ(heard().back().action, "ADDED");
}

TEST_F(Provider, NothingIsCreatedForInstancesOfOthers) {
    EXPECT_EQ(provider.send_heartbeat(an_instance("orders", "o-9")), HeartbeatResult::gone);
    EXPECT_EQ(keys().size(), 0u);
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    provider.deregister_instance(instance);
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::gone);
    EXPECT_EQ(keys().size(), 0u);
    EXPECT_EQ(heard().size(), 2u);
}

TEST_F(Provider, Defect62_RemovedIsToldEvenWhenNothingWasThere) {
    provider.register_instance(an_instance("orders", "o-1"));
    auto const result = provider.deregister_instance(an_instance("orders", "o-2"));
    EXPECT_FALSE(result.existed);
    EXPECT_TRUE(result.announced);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true},
                                          {"REMOVED", "orders", "o-2", true}}));
    EXPECT_EQ(redis().must({"ZCARD", heartbeats_key("orders")}).integer, 1);
}

TEST_F(Provider, NamesAreEnoughToDeregister) {
    provider.register_instance(an_instance("orders", "o-1"));
    ServiceInstance named;
    named.service_name = "orders";
    named.instance_id = "o-1";
    EXPECT_TRUE(provider.deregister_instance(named).existed);
    EXPECT_EQ(keys().size(), 0u);
    named.instance_id = "o-2";
    provider.deregister_instance(named);
    EXPECT_EQ(heard(), (std::vector<Told>{{"ADDED", "orders", "o-1", true},
                                          {"REMOVED", "orders", "o-1", true},
                                          {"REMOVED", "orders", "o-2", false}}));
}

TEST_F(Provider, Defect67_ARegistrationIsDatedByItself) {
    provider.register_instance(an_instance("orders", "o-1"));
    auto const first = hash("orders", "o-1").at("registrationTime");
    ASSERT_TRUE(eventually([&] { return redis_now() > std::stoll(first); }));
    provider.register_instance(an_instance("orders", "o-1"));
    auto const second = hash("orders", "o-1");
    EXPECT_GT(second.at("registrationTime"), first) << "as the design's program does";
    EXPECT_EQ(second.at("registrationTime"), second.at("lastHeartbeatTime"));
    provider.send_heartbeat(an_instance("orders", "o-1"));
    EXPECT_EQ(hash("orders", "o-1").at("registrationTime"), second.at("registrationTime"));
}

TEST_F(Provider, Defect69_AnEmptyInstanceIsRefusedWithTheReason) {
    try {
        provider.register_instance(ServiceInstance{});
        FAIL() << "no error";
    } catch (std::invalid_argument const& error) {
        EXPECT_NE(std::string_view{error.what()}.find("service"), std::string_view::npos)
            << error.what();
    }
    EXPECT_EQ(provider.send_heartbeat(ServiceInstance{}), HeartbeatResult::failed);
    EXPECT_TRUE(log.has("a heartbeat failed"));
}

TEST_F(Provider, Defect70_AFlushOfScriptsIsInvisible) {
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    redis().must({"SCRIPT", "FLUSH"});
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::alive);
    redis().must({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(provider.register_instance(instance).existed);
    redis().must({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(provider.deregister_instance(instance).existed);
    // And from then on by its digest again.
    provider.register_instance(instance);
    redis().must({"CONFIG", "RESETSTAT"});
    provider.register_instance(instance);
    EXPECT_EQ(redis().must({"INFO", "commandstats"}).text.find("cmdstat_eval:"), std::string::npos);
}

TEST_F(Provider, Defect56_ConfigurationsThatLetInstancesExpireAreRefused) {
    HeartbeatConfig heartbeat;
    heartbeat.heartbeat_interval = 90s;
    EXPECT_THROW((RedisServiceProvider{client, {}, heartbeat}), std::invalid_argument);
    ServiceProviderConfig config;
    config.heartbeat_timeout = 0s;
    EXPECT_THROW((RedisServiceProvider{client, config}), std::invalid_argument);
    config = {};
    config.key_prefix = "a b";
    EXPECT_THROW((RedisServiceProvider{client, config}), std::invalid_argument);
}

TEST_F(Provider, Defect59_TimeoutAndPrefixAreUsed) {
    ServiceProviderConfig config;
    config.key_prefix = "mine";
    config.heartbeat_timeout = 7s;
    RedisServiceProvider own{client, config, every_time()};
    own.start();
    own.register_instance(an_instance("orders", "o-1"));
    EXPECT_NEAR(
        static_cast<double>(redis().must({"TTL", "mine:services:orders:instance:o-1"}).integer), 7,
        1);
    EXPECT_EQ(redis().must({"EXISTS", index_key()}).integer, 0);
}

TEST_F(Provider, AFailureIsReportedNotThrownWhenACodeIsGiven) {
    ClientOptions nowhere;
    nowhere.url = "unix:///nonexistent/redis.sock";
    nowhere.request_timeout = 100ms;
    Client absent{nowhere};
    RedisServiceProvider lost{absent, {}, every_time()};
    lost.start();
    std::error_code error;
    lost.register_instance(an_instance("orders", "o-1"), error);
    EXPECT_EQ(error, errc::not_connected);
    EXPECT_THROW(lost.register_instance(an_instance("orders", "o-1")), Error);
    EXPECT_EQ(lost.send_heartbeat(an_instance("orders", "o-1")), HeartbeatResult::failed);
    provider.register_instance(an_instance("orders", "o-1"), error);
    EXPECT_FALSE(error);
}

}  // namespace
}  // namespace rollcall::streaming::test

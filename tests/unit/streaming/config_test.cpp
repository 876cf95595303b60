#include "rollcall/streaming/config.hpp"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using test::rows;
using test::text;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class... Configs>
std::string refusal(Configs const&... configs) {
    try {
        validate(configs...);
        return {};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
}

std::string format(BaseRedisConfig const& config, std::string_view pattern,
                   boost::json::array const& args) {
    if (args.empty()) return config.format_key(pattern, {});
    if (args.size() == 1) return config.format_key(pattern, {args[0].as_string()});
    return config.format_key(pattern, {args[0].as_string(), args[1].as_string()});
}

TEST(Config, HasTheDesignsDefaults) {
    EXPECT_EQ(BaseRedisConfig{}.key_prefix, "redis_streaming_registry");
    EXPECT_TRUE(BaseRedisConfig{}.enable_key_prefix);
    EXPECT_EQ(ServiceProviderConfig{}.heartbeat_timeout, 90s);
    EXPECT_TRUE(ServiceProviderConfig{}.auto_reregister);
    EXPECT_EQ(ServiceProviderConfig{}.cleanup_delay, 60s);
    EXPECT_EQ(ServiceProviderConfig{}.cleanup_period, 30s);
    EXPECT_EQ(ServiceConsumerConfig{}.heartbeat_timeout, 90s);
    EXPECT_TRUE(ServiceConsumerConfig{}.enable_admin_service);
    EXPECT_EQ(NamingServiceConfig{}.heartbeat_timeout, 90s);
    EXPECT_TRUE(NamingServiceConfig{}.enable_admin_service);
    EXPECT_EQ(HeartbeatConfig{}.heartbeat_interval, 3s);
    EXPECT_FALSE(HeartbeatConfig{}.enable_metadata_change_detection);
    EXPECT_EQ(HeartbeatConfig{}.metadata_update_interval, 600s);
}

TEST(Config, FormatsKeys) {
    for (auto const& value : rows("keys", "format_key")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        BaseRedisConfig const config{text(row, "prefix"), row.at("enabled").as_bool()};
        auto const pattern = text(row, "pattern");
        auto const& args = row.at("args").as_array();
        if (row.at("result").is_null()) {
            EXPECT_THROW(format(config, pattern, args), std::invalid_argument);
        } else {
            EXPECT_EQ(format(config, pattern, args), text(row, "result"));
        }
    }
}

TEST(Config, NamesItsKeys) {
    BaseRedisConfig const config{"p", true};
    EXPECT_EQ(config.service_instance_key("s", "i"), "p:services:s:instance:i");
    EXPECT_EQ(config.service_instances_key("s"), "p:services:s:heartbeats");
    EXPECT_EQ(config.heartbeat_key("s"), "p:services:s:heartbeats");
    EXPECT_EQ(config.service_change_channel_key("s"), "p:services:s:changes");
}

TEST(Config, Defect17_EveryKeyIsBuiltFromTheEffectivePrefix) {
    EXPECT_EQ((BaseRedisConfig{" p ", true}.registry_keys().prefix()), "p");
    EXPECT_EQ((BaseRedisConfig{"", true}.heartbeat_key("s")), "registry:services:s:heartbeats");
}

TEST(Config, Defect18_TheSwitchForThePrefixConcernsFormatKeyAlone) {
    BaseRedisConfig const config{"p", false};
    EXPECT_EQ(config.format_key("x", {}), "x");
    EXPECT_EQ(config.service_instance_key("s", "i"), "p:services:s:instance:i");
    EXPECT_EQ(config.registry_keys().services_index(), "p:services");
}

TEST(Config, AcceptsTheDefaults) {
    EXPECT_EQ(refusal(ServiceProviderConfig{}, HeartbeatConfig{}), "");
    EXPECT_EQ(refusal(ServiceConsumerConfig{}), "");
    EXPECT_EQ(refusal(NamingServiceConfig{}, HeartbeatConfig{}), "");
}

TEST(Config, RefusesPrefixesThatPeopleCannotShare) {
    ServiceProviderConfig provider;
    provider.key_prefix = "a b";
    ServiceConsumerConfig consumer;
    consumer.key_prefix = "";
    NamingServiceConfig naming;
    naming.key_prefix = "p\n";
    EXPECT_THAT(refusal(provider), StartsWith(R"(key prefix "a b": )"));
    EXPECT_THAT(refusal(consumer), StartsWith(R"(key prefix "": )"));
    EXPECT_THAT(refusal(naming), StartsWith(R"(key prefix "p\n": )"));
}

TEST(Config, BoundsTheTimeout) {
    for (auto const timeout : {0s, -5s, max_heartbeat_timeout + 1s, std::chrono::seconds::max()}) {
        ServiceProviderConfig provider;
        provider.heartbeat_timeout = timeout;
        ServiceConsumerConfig consumer;
        consumer.heartbeat_timeout = timeout;
        NamingServiceConfig naming;
        naming.heartbeat_timeout = timeout;
        EXPECT_THAT(refusal(provider), StartsWith("heartbeat timeout "));
        EXPECT_THAT(refusal(consumer), StartsWith("heartbeat timeout "));
        EXPECT_THAT(refusal(naming), StartsWith("heartbeat timeout "));
    }
    ServiceConsumerConfig longest;
    longest.heartbeat_timeout = max_heartbeat_timeout;
    EXPECT_EQ(refusal(longest), "");
}

TEST(Config, Defect56_TheHeartbeatIntervalIsShorterThanTheTimeout) {
    ServiceProviderConfig provider;
    provider.heartbeat_timeout = 3s;
    HeartbeatConfig heartbeat;
    heartbeat.heartbeat_interval = 3s;
    EXPECT_THAT(refusal(provider, heartbeat), HasSubstr("shorter than the heartbeat timeout"));
    NamingServiceConfig naming;
    naming.heartbeat_timeout = 2s;
    EXPECT_THAT(refusal(naming, heartbeat), HasSubstr("shorter than the heartbeat timeout"));
    heartbeat.heartbeat_interval = 2'999ms;
    EXPECT_EQ(refusal(provider, heartbeat), "");
    heartbeat.heartbeat_interval = -1ms;
    EXPECT_THAT(refusal(provider, heartbeat), HasSubstr("must not be negative"));
}

TEST(Config, BoundsThePausesOfTheHousekeeping) {
    ServiceProviderConfig config;
    auto const longest = std::chrono::milliseconds{max_heartbeat_timeout};
    for (auto const period : {0ms, -1ms, longest + 1ms, std::chrono::milliseconds::max()}) {
        config.cleanup_period = period;
        EXPECT_THAT(refusal(config),
                    StartsWith("cleanup period \"" + std::to_string(period.count()) + " ms\": "));
    }
    config.cleanup_period = 1ms;
    for (auto const delay : {-1ms, longest + 1ms, std::chrono::milliseconds::max()}) {
        config.cleanup_delay = delay;
        EXPECT_THAT(refusal(config),
                    StartsWith("cleanup delay \"" + std::to_string(delay.count()) + " ms\": "));
    }
    config.cleanup_delay = 0ms;
    EXPECT_EQ(refusal(config), "");
    config.cleanup_delay = longest;
    config.cleanup_period = longest;
    EXPECT_EQ(refusal(config), "");
}

}  // namespace
}  // namespace rollcall::streaming

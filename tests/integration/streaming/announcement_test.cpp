// A user that may write keys but publish nothing: since Redis 7 the default for new users.

#include <gtest/gtest.h>
#include <optional>

#include "integration/streaming/fixture.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::streaming::test {
namespace {

class Announcement : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        redis().must(
            {"ACL", "SETUSER", "prov", "reset", "on", ">pw", "~*", "+@all", "resetchannels"});
        auto given = options();
        given.url = "unix://prov:pw@" + server().socket();
        mute.emplace(given);
        heartbeat.heartbeat_interval = 0ms;
        heartbeat.enable_metadata_change_detection = true;
        heartbeat.metadata_update_interval = 0s;
    }
    void TearDown() override { redis().must({"ACL", "DELUSER", "prov"}); }

    bool told_the_rule() const {
        return log.has(channel_of("orders")) &&
               log.has("&" + std::string{prefix} + ":services:*:changes");
    }

    std::optional<Client> mute;
    HeartbeatConfig heartbeat;
};

TEST_F(Announcement, BC07_ARegistrationIsWholeAndSaidToBeUnannounced) {
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    auto const result = provider.register_instance(an_instance("orders", "o-1"));
    EXPECT_FALSE(result.announced);
    EXPECT_FALSE(result.existed);
    EXPECT_EQ(redis().must({"HLEN", instance_key("orders", "o-1")}).integer, 11);
    EXPECT_GT(redis().must({"TTL", instance_key("orders", "o-1")}).integer, 0);
    EXPECT_EQ(redis().must({"SISMEMBER", index_key(), "orders"}).integer, 1);
    EXPECT_NE(redis().must({"ZSCORE", heartbeats_key("orders"), "o-1"}).text, "");
    EXPECT_TRUE(told_the_rule());
    EXPECT_TRUE(heard().empty());
}

TEST_F(Announcement, BC07_AHeartbeatThatDescribesIsWritten) {
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    auto instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    instance.metadata["v"] = "2";
    auto batch = std::vector<ServiceInstance>(2, instance);
    batch[1].instance_id = "unknown";
    EXPECT_EQ(provider.batch_send_heartbeats(batch),
              (std::vector{HeartbeatResult::metadata_updated, HeartbeatResult::gone}));
    EXPECT_EQ(redis().must({"HGET", instance_key("orders", "o-1"), "metadata"}).text,
              R"({"v":"2"})");
    EXPECT_TRUE(told_the_rule());
}

TEST_F(Announcement, BC07_ADeregistrationIsWhole) {
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    provider.register_instance(an_instance("orders", "o-1"));
    auto const result = provider.deregister_instance(an_instance("orders", "o-1"));
    EXPECT_TRUE(result.existed);
    EXPECT_FALSE(result.announced);
    EXPECT_EQ(keys().size(), 0u);
    EXPECT_TRUE(told_the_rule());
}

TEST_F(Announcement, BC07_ChangesAreStored) {
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    provider.register_instance(an_instance("orders", "o-1"));
    auto const port = make_streaming_port(mute->core(), {});
    InstanceId const id{"orders", "o-1"};
    auto const set = mute->core()->run([&] { return port->set_enabled(id, false, after(5s)); });
    ASSERT_TRUE(set);
    EXPECT_TRUE(set->existed);
    EXPECT_FALSE(set->announced);
    EXPECT_EQ(redis().must({"HGET", instance_key("orders", "o-1"), "enabled"}).text, "false");
}

TEST_F(Announcement, BC07_ExpiredInstancesAreRemoved) {
    redis().must({"SADD", index_key(), "orders"});
    redis().must({"ZADD", heartbeats_key("orders"), "1", "o-1"});
    auto const port = make_streaming_port(mute->core(), {});
    auto const swept = mute->core()->run([&] { return port->sweep(after(5s)); });
    ASSERT_TRUE(swept);
    EXPECT_EQ(keys().size(), 0u);
    EXPECT_TRUE(told_the_rule());
}

TEST_F(Announcement, BC07_TheMissingRuleIsThatOfTheCommandWhereItIsRefused) {
    redis().must({"ACL", "SETUSER", "prov", "allchannels", "-publish"});
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    EXPECT_FALSE(provider.register_instance(an_instance("orders", "o-1")).announced);
    EXPECT_TRUE(log.has("+publish"));
}

TEST_F(Announcement, WhoMayPublishTheseChannelsAnnounces) {
    redis().must({"ACL", "SETUSER", "prov", "&" + std::string{prefix} + ":services:*:changes"});
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    EXPECT_TRUE(provider.register_instance(an_instance("orders", "o-1")).announced);
    EXPECT_EQ(heard().size(), 1u);
}

TEST_F(Announcement, AUserWithoutTheKeysIsDenied) {
    redis().must({"ACL", "SETUSER", "prov", "resetkeys", "~other:*"});
    RedisServiceProvider provider{*mute, {}, heartbeat};
    provider.start();
    std::error_code error;
    provider.register_instance(an_instance("orders", "o-1"), error);
    EXPECT_EQ(error, errc::access_denied);
    EXPECT_EQ(keys().size(), 0u);
}

}  // namespace
}  // namespace rollcall::streaming::test

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/streaming/subscription_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using testing::ElementsAre;
using testing::Not;

/// A server of each test alone, with a reader and the owner of what it reads.
class SubscriptionFaults : public testing::Test {
protected:
    SubscriptionFaults() {
        consumer.start();
        provider.start();
        write_epoch();
    }

    void add(std::string const& id) { provider.register_instance(an_instance("orders", id)); }
    void remove(std::string const& id) { provider.deregister_instance(an_instance("orders", id)); }
    /// As every session that writes does.
    void write_epoch() {
        RedisClient{server}.must({"SET", std::string{prefix} + ":rollcall:epoch", "an epoch"});
    }
    long long subscribers() {
        return RedisClient{server}
            .must({"PUBSUB", "NUMSUB", channel_of("orders")})
            .elements.at(1)
            .integer;
    }
    static ClientOptions options(RedisServer const& server, LogBook& log) {
        ClientOptions result;
        result.url = server.url();
        result.log = log.callback();
        return result;
    }
    static ServiceConsumerConfig quick() {
        ServiceConsumerConfig config;
        config.heartbeat_timeout = 1s;
        return config;
    }

    RedisServer server;
    LogBook log;
    Client client{options(server, log)};
    Client owner{options(server, log)};
    RedisServiceProvider provider{owner};
    RedisServiceConsumer consumer{client};
    HeardChanges heard;
};

TEST_F(SubscriptionFaults, ARestartedEmptyRedisRemovesNobodyWhoComesBack) {
    add("o-1");
    consumer.subscribe("orders", heard.listener());
    ASSERT_TRUE(hears(heard, "current o-1 of [o-1]"));
    server.kill();
    server.start();
    EXPECT_TRUE(eventually([&] { return subscribers() == 1; }));
    add("o-1");
    write_epoch();
    add("o-2");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-1, o-2]"));
    EXPECT_THAT(heard.texts(), Not(testing::Contains(testing::HasSubstr("removed"))));
}

TEST_F(SubscriptionFaults, WhoDoesNotComeBackIsRemovedWhenItIsLost) {
    RedisServiceConsumer reader{client, quick()};
    reader.start();
    add("o-1");
    reader.subscribe("orders", heard.listener());
    ASSERT_TRUE(hears(heard, "current o-1 of [o-1]"));
    auto const flushed = rollcall::test::time_of([&] {
        RedisClient{server}.must({"FLUSHALL"});
        EXPECT_TRUE(hears(heard, "removed o-1 of []"));
    });
    EXPECT_GE(flushed, 900ms) << "suspicion is no removal";
    EXPECT_EQ(heard.size(), 2);
}

TEST_F(SubscriptionFaults, ARestartWithItsDataIsNoChange) {
    add("o-1");
    consumer.subscribe("orders", heard.listener());
    ASSERT_TRUE(hears(heard, "current o-1 of [o-1]"));
    RedisClient{server}.must({"SAVE"});
    server.kill();
    server.start();
    EXPECT_TRUE(eventually([&] { return subscribers() == 1; }));
    add("o-2");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-1, o-2]"));
    // Twice if the message came while all was read again.
    EXPECT_THAT(heard.texts(),
                testing::AnyOf(ElementsAre("current o-1 of [o-1]", "added o-2 of [o-1, o-2]"),
                               ElementsAre("current o-1 of [o-1]", "added o-2 of [o-1, o-2]",
                                           "added o-2 of [o-1, o-2]")));
}

TEST_F(SubscriptionFaults, MessagesThatAreLostAreMadeUpFor) {
    add("o-1");
    add("o-2");
    consumer.subscribe("orders", heard.listener());
    ASSERT_TRUE(hears(heard, "current o-2 of [o-1, o-2]"));
    RedisClient peer{server};
    // In one step, so that nobody can listen again before it is over.
    peer.must({"MULTI"});
    peer.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    peer.must({"DEL", instance_key("orders", "o-1")});
    peer.must({"ZREM", heartbeats_key("orders"), "o-1"});
    peer.must({"HSET", instance_key("orders", "o-2"), "enabled", "false"});
    peer.must({"HSET", instance_key("orders", "o-3"), "host", "h", "port", "1"});
    peer.must({"ZADD", heartbeats_key("orders"), "1e15", "o-3"});
    peer.must({"EXEC"});
    EXPECT_TRUE(hears(heard, "removed o-1 of [o-3]"));
    EXPECT_TRUE(hears(heard, "updated o-2 of [o-1, o-3]"));
    EXPECT_TRUE(hears(heard, "added o-3 of [o-1, o-3]"));
    EXPECT_EQ(heard.size(), 5) << testing::PrintToString(heard.texts());
}

TEST_F(SubscriptionFaults, BeginWhenRedisComes) {
    server.kill();
    auto hurried = options(server, log);
    hurried.request_timeout = 100ms;
    Client late{hurried};
    RedisServiceConsumer reader{late};
    reader.start();
    EXPECT_LE(rollcall::test::time_of([&] { reader.subscribe("orders", heard.listener()); }),
              100ms + rollcall::test::tolerated_overshoot);
    server.start();
    add("o-1");
    EXPECT_TRUE(eventually([&] { return heard.size() > 0; }));
    EXPECT_EQ(heard.all()[0].instance->instance_id, "o-1");
}

TEST_F(SubscriptionFaults, EndWhileRedisHangs) {
    consumer.subscribe("orders", heard.listener());
    server.signal(SIGSTOP);
    EXPECT_LE(rollcall::test::time_of([&] { consumer.unsubscribe("orders", heard.listener()); }),
              1s);
    server.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
}

TEST_F(SubscriptionFaults, GarbageAndGiantsAreNotTold) {
    add("o-1");
    consumer.subscribe("orders", heard.listener());
    RedisClient peer{server};
    auto const giant = message_of(ServiceChangeAction::updated, "orders", "o-1");
    std::vector<std::string> const payloads{"",
                                            "garbage",
                                            std::string{"\xff\0{", 3},
                                            std::string(10 << 20, 'x'),
                                            giant + std::string(10 << 20, ' '),
                                            "[" + giant + "]"};
    for (auto const& payload : payloads) peer.must({"PUBLISH", channel_of("orders"), payload});
    add("o-2");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-1, o-2]"));
    EXPECT_THAT(heard.texts(), ElementsAre("current o-1 of [o-1]", "added o-2 of [o-1, o-2]"));
    EXPECT_TRUE(log.has("could not be read") || log.has("too large"));
}

TEST_F(SubscriptionFaults, ADescriptionThatIsTooLongIsNotTakenFromAMessage) {
    consumer.subscribe("orders", heard.listener());
    ServiceChangeEvent event;
    event.action = ServiceChangeAction::removed;
    event.instance_id = "o-1";
    event.instance = an_instance("orders", "o-1");
    event.instance->metadata["a"] = std::string(200 << 10, 'x');
    RedisClient{server}.must({"PUBLISH", channel_of("orders"), to_message(event)});
    EXPECT_TRUE(hears(heard, "removed null of []"));
}

TEST_F(SubscriptionFaults, WithoutTheRightToListenChangesComeLate) {
    RedisClient{server}.must(
        {"ACL", "SETUSER", "deaf", "on", ">secret", "~*", "+@all", "-subscribe", "-psubscribe"});
    auto deaf = options(server, log);
    deaf.url = server.url();
    deaf.url.insert(deaf.url.find("://") + 3, "deaf:secret@");
    Client restricted{deaf};
    RedisServiceConsumer reader{restricted};
    reader.start();
    add("o-1");
    reader.subscribe("orders", heard.listener());
    EXPECT_TRUE(hears(heard, "current o-1 of [o-1]"));
    add("o-2");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-1, o-2]"));
}

TEST_F(SubscriptionFaults, TheDocumentedRightsSuffice) {
    RedisClient{server}.must({"ACL",
                              "SETUSER",
                              "reader",
                              "on",
                              ">secret",
                              "~redis_streaming_registry:*",
                              "&redis_streaming_registry:services:*:changes",
                              "+hello",
                              "+ping",
                              "+time",
                              "+zrangebyscore",
                              "+zscore",
                              "+hgetall",
                              "+subscribe",
                              "+unsubscribe",
                              "+get",
                              "+exists",
                              "+hlen",
                              "+info",
                              "+client|id",
                              "+client|tracking"});
    LogBook quiet;
    auto limited = options(server, quiet);
    limited.url.insert(limited.url.find("://") + 3, "reader:secret@");
    Client restricted{limited};
    RedisServiceConsumer reader{restricted, quick()};
    reader.start();
    reader.subscribe("orders", heard.listener());
    add("o-1");
    EXPECT_TRUE(hears(heard, "added o-1 of [o-1]"));
    EXPECT_TRUE(hears(heard, "removed o-1 of []")) << "expired: leases are read, too";
    reader.unsubscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
    EXPECT_FALSE(quiet.has("NOPERM")) << testing::PrintToString(quiet.lines());
}

TEST_F(SubscriptionFaults, AForkedChildIsToldThatItIsClosed) {
    add("o-1");
    auto shared = std::make_unique<RedisServiceConsumer>(client);
    shared->start();
    shared->subscribe("orders", heard.listener());
    ASSERT_TRUE(hears(heard, "current o-1 of [o-1]"));
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 1;
        try {
            shared->subscribe("carts", heard.listener());
        } catch (Error const& error) {
            wrong = error.code() == errc::closed ? 0 : 2;
        }
        shared->unsubscribe("orders", heard.listener());
        shared->stop();
        shared.reset();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    add("o-2");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-1, o-2]"));
}

}  // namespace
}  // namespace rollcall::streaming::test

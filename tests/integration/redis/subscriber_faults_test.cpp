#include <csignal>
#include <filesystem>
#include <sys/socket.h>

#include "recorder.hpp"
#include "stranger.hpp"
#include "support/log_book.hpp"

namespace rollcall::test {
namespace {

class SubscriberFaults : public testing::Test {
protected:
    bool told(std::string const& begin, std::size_t times = 1,
              std::chrono::milliseconds limit = 10s) {
        return eventually([&] { return recorder.count(begin) >= times; }, limit);
    }

    RedisServer server;
    LogBook log;
    Recorder recorder;
};

TEST_F(SubscriberFaults, ServerMayComeLaterAndGoAndComeEmpty) {
    server.kill();
    std::filesystem::remove(server.socket());
    auto const core = connect_to(server.url(), log.callback());
    subscribe(*core, recorder, {"a"});
    EXPECT_TRUE(eventually([&] { return log.has("cannot connect for pushes to "); }));
    for (std::size_t round = 1; round <= 3; ++round) {
        server.start();
        ASSERT_TRUE(told("confirmed a", round)) << round;
        RedisClient{server}.must({"PUBLISH", "a", std::to_string(round)});
        ASSERT_TRUE(told("message a " + std::to_string(round)));
        server.kill();
        ASSERT_TRUE(told("lost ", round));
        auto const outcome = ping(*core, 30s);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), errc::not_connected);
    }
}

TEST_F(SubscriberFaults, AHalfOpenConnectionIsLostWithinASecond) {
    auto const core = connect_to(server.url());
    subscribe(*core, recorder, {"a"});
    for (std::size_t round = 1; round <= 2; ++round) {
        ASSERT_TRUE(told("confirmed a", round));
        auto const before = disturbances(*core);
        server.signal(SIGSTOP);
        auto asked = std::async(std::launch::async, [&] { return ping(*core, 30s); });
        auto const took = time_of([&] { told("lost the server is silent", round); });
        EXPECT_LE(took, 1s + tolerated_overshoot);
        EXPECT_EQ(asked.get().error().code(), errc::not_connected);
        EXPECT_GT(disturbances(*core), before);
        server.signal(SIGCONT);
    }
    EXPECT_TRUE(told("confirmed a", 3));
}

TEST_F(SubscriberFaults, AStopDuringTheSubscribingIsNoticedToo) {
    auto const core = connect_to(server.url());
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    server.signal(SIGSTOP);
    subscribe(*core, recorder, {"b"});
    auto const took = time_of([&] { told("lost "); });
    server.signal(SIGCONT);
    EXPECT_LE(took, 1s + tolerated_overshoot);
    EXPECT_TRUE(told("confirmed b"));
    EXPECT_TRUE(ping(*core));
}

TEST_F(SubscriberFaults, UnsubscribingWhileThereIsNoConnection) {
    auto const core = connect_to(server.url(), log.callback());
    subscribe(*core, recorder, {"a", "b"});
    ASSERT_TRUE(told("confirmed", 2));
    server.kill();
    ASSERT_TRUE(told("lost "));
    EXPECT_TRUE(log.has("lost the connection for pushes to " + server.url()));
    unsubscribe(*core, recorder, "a");
    subscribe(*core, recorder, {"c"});
    server.start();
    ASSERT_TRUE(told("confirmed c") && told("confirmed b", 2));
    ping(*core).value();
    auto names = RedisClient{server}.must({"PUBSUB", "CHANNELS", "*"}).texts();
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(recorder.count("confirmed a"), 1u);
}

TEST_F(SubscriberFaults, EndsAtOnceWithEverythingPending) {
    auto core = connect_to(server.url(), log.callback());
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    server.signal(SIGSTOP);
    with_subscriber(*core, [&](redis::Subscriber& subscriber) {
        for (int i = 0; i < 10'000; ++i) {
            subscriber.subscribe(recorder, {"c" + std::to_string(i)}).value();
        }
        subscriber.track(recorder, "k").value();
    });
    std::vector<std::future<Result<void>>> pings;
    for (int i = 0; i < 5; ++i) {
        pings.push_back(std::async(std::launch::async,
                                   [kept = core, i] { return ping(*kept, 30s + i * 1ms); }));
    }
    EXPECT_TRUE(eventually([&] { return core.use_count() > 5; }));
    with_subscriber(*core, [](redis::Subscriber& subscriber) { subscriber.stop(); });
    for (auto& each : pings) EXPECT_EQ(each.get().error().code(), errc::closed);
    EXPECT_LT(time_of([&] { core.reset(); }), 1s);
    server.signal(SIGCONT);
    EXPECT_FALSE(recorder.has("lost"));
}

TEST_F(SubscriberFaults, AHandlerMayStopIt) {
    auto const core = connect_to(server.url());
    recorder.on_line([&](std::string const& line) {
        if (line == "message a 1") core->subscriber().stop();
    });
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    RedisClient admin{server};
    admin.must({"EVAL", "redis.call('PUBLISH', 'a', 1) redis.call('PUBLISH', 'a', 2)", "0"});
    ASSERT_TRUE(told("message a 1"));
    EXPECT_EQ(ping(*core).error().code(), errc::closed);
    EXPECT_EQ(recorder.lines(), (std::vector<std::string>{"confirmed a", "message a 1"}));
}

TEST_F(SubscriberFaults, AUserWithoutChannelsIsToldSoAndServedWhenAllowed) {
    RedisClient admin{server};
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "resetchannels"});
    auto const core = connect_to("unix://ann:pw@" + server.socket(), log.callback());
    subscribe(*core, recorder, {"a", "b", "c", "d", "e"});
    for (auto const* name : {"a", "b", "c", "d", "e"}) {
        EXPECT_TRUE(told(std::string{"refused "} + name)) << name;
    }
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(ping(*core)) << "answers are not mixed up";
    EXPECT_TRUE(told("refused a", 2)) << "asked again";
    EXPECT_EQ(log.count("without it changes are found late"), 1u);
    EXPECT_FALSE(recorder.has("lost"));
    admin.must({"ACL", "SETUSER", "ann", "&b"});
    ASSERT_TRUE(told("confirmed b"));
    admin.must({"PUBLISH", "b", "1"});
    EXPECT_TRUE(told("message b 1"));
    EXPECT_FALSE(recorder.has("confirmed a"));
    EXPECT_EQ(on_io_thread(*core, [&] { return core->subscriber().unknown_pushes(); }), 0u);
}

TEST_F(SubscriberFaults, NothingIsAskedBehindACommandThatMayBeRefused) {
    RedisClient admin{server};
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "resetchannels"});
    redis::SessionOptions session;
    session.ping_interval = 20ms;
    session.patience = 5s;
    auto const core = connect_to("unix://ann:pw@" + server.socket(), {}, session);
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("refused a"));
    server.signal(SIGSTOP);
    subscribe(*core, recorder, {"b"});
    EXPECT_FALSE(told("refused b", 1, 150ms)) << "long enough to ask for a sign of life";
    server.signal(SIGCONT);
    EXPECT_TRUE(told("refused b", 1, 2s));
    for (int i = 0; i < 50; ++i) {
        auto const name = "c" + std::to_string(i);
        std::promise<void> asked;
        on_io_thread(*core, [&] {
            auto& subscriber = core->subscriber();
            subscriber.subscribe(recorder, {name}).value();
            asio::post(core->io(), [&] {
                asio::post(core->io(), [&] {
                    asio::co_spawn(core->io().get_executor(), subscriber.ping(after(5s)),
                                   [&](std::exception_ptr, Result<void>) { asked.set_value(); });
                });
            });
            return true;
        });
        asked.get_future().wait();
        ASSERT_TRUE(told("refused " + name, 1, 2s));
    }
    EXPECT_EQ(on_io_thread(*core, [&] { return core->subscriber().unknown_pushes(); }), 0u);
    EXPECT_FALSE(recorder.has("lost"));
}

TEST_F(SubscriberFaults, ABusyServerIsAskedAgain) {
    RedisClient admin{server};
    RedisClient rescuer{server};
    admin.must({"CONFIG", "SET", "busy-reply-threshold", "1"});
    auto const core = connect_to(server.url(), log.callback());
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    auto busy = std::async(std::launch::async,
                           [&] { return admin.command({"EVAL", "while true do end", "0"}); });
    EXPECT_TRUE(eventually([&] { return rescuer.command({"PING"}).is_error(); }));
    subscribe(*core, recorder, {"b"});
    EXPECT_TRUE(ping(*core)) << "refused, and so answered";
    rescuer.must({"SCRIPT", "KILL"});
    busy.get();
    EXPECT_TRUE(told("confirmed b"));
    EXPECT_FALSE(recorder.has("lost"));
    EXPECT_FALSE(recorder.has("refused"));
}

class Tracking : public SubscriberFaults {
protected:
    /// A handler of channel "a" that tracks "epoch".
    void watch(redis::ClientCore& core) {
        with_subscriber(core, [&](redis::Subscriber& subscriber) {
            subscriber.track(recorder, "epoch").value();
            subscriber.subscribe(recorder, {"a"}).value();
        });
        ASSERT_TRUE(told("confirmed a"));
    }
};

TEST_F(Tracking, EveryFlushAndChangeIsTold) {
    RedisClient admin{server};
    auto const core = connect_to(server.url());
    watch(*core);
    std::size_t times = 0;
    for (int round = 0; round < 20; ++round) {
        for (auto const& command : {std::vector<std::string>{"SET", "epoch", "e"},
                                    std::vector<std::string>{"FLUSHALL"}}) {
            auto const before = disturbances(*core);
            admin.must(command);
            ASSERT_TRUE(told("invalidated epoch", ++times)) << round << command.front();
            ASSERT_GT(disturbances(*core), before);
        }
    }
    admin.must({"SET", "other", "x"});
    ping(*core).value();
    EXPECT_EQ(recorder.count("invalidated"), times);
}

TEST_F(Tracking, IsThereFromEachConfirmationOn) {
    RedisClient admin{server};
    RedisClient writer{server};
    admin.must({"SET", "epoch", "e"});
    auto const core = connect_to(server.url());
    recorder.on_line([&](std::string const& line) {
        if (line == "confirmed a") writer.must({"SET", "epoch", "e"});
    });
    watch(*core);
    for (std::size_t round = 1; round <= 10; ++round) {
        ASSERT_TRUE(told("invalidated epoch", round)) << round;
        admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    }
}

TEST_F(Tracking, ManyChangesAtOnceAreTakenTogether) {
    RedisClient admin{server};
    auto const core = connect_to(server.url());
    watch(*core);
    for (int i = 0; i < 2'000; ++i) admin.must({"SET", "epoch", std::to_string(i)});
    auto const told_before_the_last = recorder.count("invalidated");
    ping(*core).value();
    ping(*core).value();
    EXPECT_TRUE(told("invalidated epoch"));
    EXPECT_LE(told_before_the_last, 2'000u);
    auto const so_far = recorder.count("invalidated");
    admin.must({"DEL", "epoch"});
    EXPECT_TRUE(told("invalidated epoch", so_far + 1)) << "it is tracked still";
}

TEST_F(Tracking, WhereItIsRefusedAllElseWorksWithOneWarning) {
    RedisClient admin{server};
    auto const core = connect_to("unix://ann:pw@" + server.socket(), log.callback());
    struct Case {
        std::string missing;
        std::string given;
    };
    std::size_t confirmed = 0;
    for (auto const& [missing, given] :
         {Case{"-client|tracking", "+client|tracking"}, Case{"-exists", "+exists"}}) {
        admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "&*", "+@all", missing});
        admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
        if (confirmed == 0) watch(*core);
        ASSERT_TRUE(told("confirmed a", ++confirmed)) << missing;
        admin.must({"SET", "epoch", "e"});
        admin.must({"PUBLISH", "a", missing});
        ASSERT_TRUE(told("message a " + missing));
        EXPECT_FALSE(recorder.has("invalidated"));
        EXPECT_EQ(log.count("that Redis lost its data will be found late"), 1u);
        admin.must({"ACL", "SETUSER", "ann", given});
        EXPECT_TRUE(told("invalidated epoch")) << "asked again, and changed meanwhile";
        recorder.clear();
        confirmed = 0;
        if (missing.starts_with("-exists")) break;
        admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
        ASSERT_TRUE(told("confirmed a", ++confirmed));
        recorder.clear();
        confirmed = 0;
    }
}

/// A server that logs everybody in, and says `greeting` to whoever asks for more.
class FalseRedis {
public:
    explicit FalseRedis(std::string greeting)
        : stranger_([greeting = std::move(greeting)](int peer) {
              char bytes[4'096];
              if (::recv(peer, bytes, sizeof bytes, 0) <= 0) return;
              ::send(peer, "%0\r\n$0\r\n\r\n", 10, MSG_NOSIGNAL);
              if (::recv(peer, bytes, sizeof bytes, 0) <= 0) return;
              ::send(peer, greeting.data(), greeting.size(), MSG_NOSIGNAL);
              wait_for_end(peer);
          }) {}

    std::string const& url() const { return stranger_.url(); }

private:
    Stranger stranger_;
};

/// A subscriber without a session beside it, as the false one serves one connection at a time.
class Lonely {
public:
    Lonely(asio::io_context& io, std::string const& url, redis::SubscriberOptions options, Log log)
        : subscriber_(io, session(url), options, std::move(log)) {
        subscriber_.start();
    }
    redis::Subscriber& operator*() { return subscriber_; }
    redis::Subscriber* operator->() { return &subscriber_; }

private:
    static redis::SessionOptions session(std::string const& url) {
        redis::SessionOptions options;
        options.url = redis::Url::parse(url);
        options.ping_interval = 1h;
        return options;
    }
    redis::Subscriber subscriber_;
};

TEST_F(SubscriberFaults, WhatIsUnknownIsCountedAndToldOnceAMinute) {
    std::string greeting = ">3\r\n+subscribe\r\n+a\r\n:1\r\n";
    for (auto const* unknown : {">1\r\n+what\r\n", "+OK\r\n", "-ERR spontaneous\r\n",
                                ">2\r\n*1\r\n+x\r\n+y\r\n", ">3\r\n+smessage\r\n+a\r\n+x\r\n"}) {
        greeting += unknown;
    }
    greeting += ">3\r\n+message\r\n+a\r\n*1\r\n+x\r\n>3\r\n+message\r\n+a\r\n+x\r\n";
    FalseRedis const stranger{greeting};
    asio::io_context io;
    Lonely subscriber{io, stranger.url(), {}, Log{log.callback()}};
    subscriber->subscribe(recorder, {"a"}).value();
    recorder.on_line([&](std::string const& line) {
        if (line == "message a x") subscriber->stop();
    });
    io.run_for(10s);
    EXPECT_EQ(recorder.lines(),
              (std::vector<std::string>{"confirmed a", "unreadable a a", "message a x"}));
    EXPECT_EQ(subscriber->unknown_pushes(), 5u);
    EXPECT_EQ(log.count("Redis pushed something unknown"), 1u);
}

TEST_F(SubscriberFaults, AServerThatNeverConfirmsIsGivenUp) {
    FalseRedis const stranger{">3\r\n+subscribe\r\n+another\r\n:1\r\n"};
    redis::SubscriberOptions options;
    options.answer_limit = 200ms;
    asio::io_context io;
    Lonely subscriber{io, stranger.url(), options, Log{log.callback()}};
    subscriber->subscribe(recorder, {"a"}).value();
    int losses = 0;
    recorder.on_line([&](std::string const&) {
        if (++losses == 2) subscriber->stop();
    });
    io.run_for(10s);
    EXPECT_EQ(recorder.lines(), (std::vector<std::string>{"lost no answer to SUBSCRIBE",
                                                          "lost no answer to SUBSCRIBE"}));
}

}  // namespace
}  // namespace rollcall::test

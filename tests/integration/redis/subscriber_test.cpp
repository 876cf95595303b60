#include <atomic>
#include <boost/asio/use_future.hpp>
#include <random>
#include <set>
#include <stdexcept>

#include "recorder.hpp"
#include "support/log_book.hpp"

namespace rollcall::test {
namespace {

using Lines = std::vector<std::string>;

class Subscriber : public WithRedis {
protected:
    bool told(std::string const& begin, std::size_t times = 1) {
        return eventually([&] { return recorder.count(begin) >= times; });
    }
    long long subscribers(std::string const& channel) {
        return admin.must({"PUBSUB", "NUMSUB", channel}).elements.at(1).integer;
    }
    void publish(std::string const& channel, std::string const& payload) {
        admin.must({"PUBLISH", channel, payload});
    }

    LogBook log;
    Recorder recorder;
    Recorder other;
    Core core = connect_to(server().url(), log.callback());
};

TEST_F(Subscriber, HandsOnWhatIsPublishedToChannelsAndPatterns) {
    subscribe(*core, recorder, {"a"});
    subscribe(*core, recorder, {"b*"}, true);
    ASSERT_TRUE(told("confirmed", 2));
    publish("a", "1");
    publish("unwanted", "2");
    publish("b1", "3");
    publish("a", "");
    ping(*core).value();
    auto lines = recorder.lines();
    std::sort(lines.begin(), lines.begin() + 2);
    EXPECT_EQ(lines, (Lines{"confirmed a", "confirmed b*", "message a 1", "message b* b1 3",
                            "message a "}));
}

TEST_F(Subscriber, TellsNoMoreOfWhatIsNotWanted) {
    subscribe(*core, recorder, {"a", "b"});
    ASSERT_TRUE(told("confirmed", 2));
    unsubscribe(*core, recorder, "a");
    EXPECT_TRUE(eventually([&] { return subscribers("a") == 0; }));
    publish("a", "1");
    publish("b", "2");
    ping(*core).value();
    EXPECT_EQ(recorder.count("message"), 1u);
    subscribe(*core, recorder, {"a"});
    EXPECT_TRUE(told("confirmed a", 2));
}

TEST_F(Subscriber, ServesSeveralHandlersByOneSubscription) {
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    subscribe(*core, other, {"a"});
    EXPECT_TRUE(eventually([&] { return other.has("confirmed a"); }));
    EXPECT_EQ(recorder.count("confirmed a"), 1u);
    publish("a", "1");
    ping(*core).value();
    EXPECT_EQ(recorder.count("message a 1"), 1u);
    EXPECT_EQ(other.count("message a 1"), 1u);
    EXPECT_EQ(subscribers("a"), 1);
    with_subscriber(*core, [&](redis::Subscriber& subscriber) { subscriber.detach(recorder); });
    publish("a", "2");
    ping(*core).value();
    EXPECT_FALSE(recorder.has("message a 2"));
    EXPECT_TRUE(other.has("message a 2"));
    with_subscriber(*core, [&](redis::Subscriber& subscriber) { subscriber.detach(other); });
    EXPECT_TRUE(eventually([&] { return subscribers("a") == 0; }));
}

TEST_F(Subscriber, HandlersMayChangeWhatIsWantedWhileTheyAreTold) {
    recorder.on_line([&](std::string const& line) {
        auto& subscriber = core->subscriber();
        if (line == "confirmed a") subscriber.subscribe(recorder, {"b"}).value();
        if (line == "message b 1") {
            subscriber.unsubscribe(recorder, {"b"});
            subscriber.detach(other);
        }
    });
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed b"));
    subscribe(*core, other, {"b"});
    EXPECT_TRUE(eventually([&] { return other.has("confirmed b"); }));
    admin.must({"EVAL", "redis.call('PUBLISH', 'b', 1) redis.call('PUBLISH', 'b', 2)", "0"});
    EXPECT_TRUE(eventually([&] { return subscribers("b") == 0; }));
    EXPECT_EQ(recorder.count("message b"), 1u);
    EXPECT_FALSE(other.has("message"));
}

TEST_F(Subscriber, WhatAHandlerThrowsCostsTheConnectionOnly) {
    bool thrown = false;
    recorder.on_line([&](std::string const& line) {
        if (line.starts_with("message") && !std::exchange(thrown, true)) {
            throw std::runtime_error{"broken"};
        }
    });
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    publish("a", "1");
    EXPECT_TRUE(told("lost handling what it pushed failed: broken"));
    EXPECT_TRUE(told("confirmed a", 2));
    EXPECT_TRUE(log.has("handling what Redis pushed failed: broken"));
    publish("a", "2");
    EXPECT_TRUE(told("message a 2"));
}

TEST_F(Subscriber, ConfirmsAfterEachReconnect) {
    subscribe(*core, recorder, {"a", "b"});
    subscribe(*core, recorder, {"p*"}, true);
    for (std::size_t round = 1; round <= 10; ++round) {
        ASSERT_TRUE(told("confirmed", 3 * round)) << round;
        auto const before = disturbances(*core);
        admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
        ASSERT_TRUE(told("lost the server closed the connection", round)) << round;
        EXPECT_TRUE(eventually([&] { return disturbances(*core) >= before + 4; }));
    }
    ASSERT_TRUE(told("confirmed", 33));
    publish("a", "x");
    publish("px", "y");
    ping(*core).value();
    EXPECT_EQ(recorder.count("message a x"), 1u);
    EXPECT_EQ(recorder.count("message p* px y"), 1u);
}

TEST_F(Subscriber, TenThousandChannelsTakeFewCommands) {
    constexpr std::size_t many = 10'000;
    Lines names;
    for (std::size_t i = 0; i < many; ++i) names.push_back("channel:" + std::to_string(i));
    auto const before = command_stat(admin, "subscribe", "calls");
    auto const start = std::chrono::steady_clock::now();
    subscribe(*core, recorder, names);
    ASSERT_TRUE(eventually([&] { return recorder.count("confirmed") == many; }, 20s));
    auto const took = std::chrono::steady_clock::now() - start;
    RecordProperty("confirmed_ms", std::to_string(took / 1ms));
    EXPECT_LE(command_stat(admin, "subscribe", "calls") - before, 21);
    publish(names.back(), "x");
    EXPECT_TRUE(told("message " + names.back() + " x"));

    recorder.clear();
    admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(eventually([&] { return recorder.count("confirmed") == many; }, 20s));
    for (std::size_t i = 0; i < many; i += 2) unsubscribe(*core, recorder, names[i]);
    EXPECT_TRUE(eventually(
        [&] { return admin.must({"PUBSUB", "CHANNELS", "*"}).elements.size() == many / 2; }, 20s));
}

TEST_F(Subscriber, ABurstArrivesWholeAndInOrder) {
    constexpr int many = 100'000;
    subscribe(*core, recorder, {"a", "b"});
    ASSERT_TRUE(told("confirmed", 2));
    int next = 1;
    std::atomic<int> wrong{0};
    std::atomic<int> arrived{0};
    recorder.on_line([&](std::string const& line) {
        auto const channel = next % 2 == 0 ? "a " : "b ";
        if (line != "message " + (channel + std::to_string(next))) ++wrong;
        ++next;
        ++arrived;
    });
    std::string const count_aloud =
        "for i = ARGV[1], ARGV[2] do redis.call('PUBLISH', i % 2 == 0 and 'a' or 'b', i) end";
    for (int part = 0; part < 10; ++part) {
        auto const from = std::to_string(part * many / 10 + 1);
        auto const to = std::to_string((part + 1) * many / 10);
        admin.must({"EVAL", count_aloud, "0", from, to});
    }
    EXPECT_TRUE(eventually([&] { return arrived == many; }, 60s)) << arrived;
    EXPECT_EQ(wrong, 0);
    EXPECT_FALSE(recorder.has("lost"));
}

TEST_F(Subscriber, AHugePayloadSpoilsNothingElse) {
    subscribe(*core, recorder, {"a", "b"});
    subscribe(*core, recorder, {"p*"}, true);
    ASSERT_TRUE(told("confirmed", 3));
    std::string const huge(10 << 20, 'x');
    std::string const largest(1 << 20, 'y');
    publish("b", "before");
    publish("a", huge);
    publish("a", largest);
    publish("p" + huge, "z");
    publish("b", "behind");
    ASSERT_TRUE(told("message b behind"));
    EXPECT_EQ(recorder.count("unreadable a a"), 1u);
    EXPECT_EQ(recorder.count("message a " + largest), 1u);
    EXPECT_EQ(recorder.count("unreadable p* "), 1u);
    EXPECT_FALSE(recorder.has("lost"));
    EXPECT_TRUE(log.has("too large or no text on channel a"));
}

TEST_F(Subscriber, APingIsBehindAllThatWasSaidBefore) {
    subscribe(*core, recorder, {"a"});
    ASSERT_TRUE(told("confirmed a"));
    auto const before = disturbances(*core);
    for (int i = 0; i < 300; ++i) {
        publish("a", std::to_string(i));
        ping(*core).value();
        ASSERT_TRUE(recorder.has("message a " + std::to_string(i))) << i;
    }
    EXPECT_EQ(disturbances(*core), before);
    subscribe(*core, recorder, {"b"});
    ping(*core).value();
    EXPECT_TRUE(told("confirmed b"));
    EXPECT_EQ(disturbances(*core), before + 1);
}

TEST_F(Subscriber, TopicsKeysAndPingsAreBounded) {
    redis::SubscriberOptions options;
    options.max_topics = 2;
    options.max_keys = 1;
    options.max_pings = 0;
    redis::SessionOptions session;
    session.url = core->url();
    asio::io_context io;
    redis::Subscriber subscriber{io, session, options, Log{}};
    EXPECT_TRUE(subscriber.subscribe(recorder, {"a"}));
    EXPECT_TRUE(subscriber.subscribe(recorder, {"a", true}));
    auto const endless = std::string(options.max_payload + 1, 'x');
    EXPECT_EQ(subscriber.subscribe(recorder, {endless}).error().code(), errc::overloaded);
    EXPECT_EQ(subscriber.subscribe(recorder, {"c"}).error().code(), errc::overloaded);
    EXPECT_TRUE(subscriber.subscribe(other, {"a"})) << "it is one of the two";
    EXPECT_TRUE(subscriber.track(recorder, "k"));
    EXPECT_EQ(subscriber.track(recorder, "l").error().code(), errc::overloaded);
    EXPECT_TRUE(subscriber.track(other, "k")) << "it is the one";
    auto outcome = asio::co_spawn(io.get_executor(), subscriber.ping(after(1s)), asio::use_future);
    subscriber.stop();
    io.run();
    EXPECT_EQ(outcome.get().error().code(), errc::overloaded);
}

TEST_F(Subscriber, RandomWishesComeTrueThroughBreaks) {
    std::minstd_rand random{20261130};
    std::set<std::string> wanted;
    for (int i = 0; i < 400; ++i) {
        auto const name = std::to_string(random() % 40);
        if (random() % 2 == 0) {
            subscribe(*core, recorder, {name});
            wanted.insert(name);
        } else {
            unsubscribe(*core, recorder, name);
            wanted.erase(name);
        }
        if (random() % 20 == 0) admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    }
    std::set<std::string> found;
    EXPECT_TRUE(eventually([&] {
        auto const names = admin.must({"PUBSUB", "CHANNELS", "*"}).texts();
        found = {names.begin(), names.end()};
        return found == wanted;
    })) << found.size();
    recorder.clear();
    for (int i = 0; i < 40; ++i) publish(std::to_string(i), "x");
    EXPECT_TRUE(eventually([&] { return ping(*core).has_value(); }));
    EXPECT_EQ(recorder.count("message"), wanted.size());
}

}  // namespace
}  // namespace rollcall::test

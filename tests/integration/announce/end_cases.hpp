#pragma once

#include <atomic>
#include <csignal>
#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "integration/announce/fixture.hpp"
#include "integration/redis/detour.hpp"

/// How announcements end, in both layouts. Each layout's test program instantiates it.
namespace rollcall::test {

using testing::ElementsAre;

TEST_P(AnnouncerTest, ALateUpdateDoesNotBringBackWhatIsReleased) {
    auto const by = owner(50ms);
    auto other = by->announcer->announce(instance(8081), {});
    auto me = announced(*by, instance());
    for (int i = 0; i < 20; ++i) me.update_metadata({{"i", std::to_string(i)}});
    me.release();
    EXPECT_FALSE(stored(me));
    EXPECT_FALSE(me.registered());
    me.update_metadata({{"late", "yes"}});
    me.set_weight(7);
    admin().must({"FLUSHALL"});
    ASSERT_TRUE(stored_soon(other.instance()));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(other.instance()));
    EXPECT_FALSE(stored(me));
    EXPECT_THAT(events->list(2), ElementsAre("registered", "released"));
}

TEST_P(AnnouncerTest, AReleaseNeedNotBeWaitedFor) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    server.signal(SIGSTOP);
    EXPECT_LE(time_of([&] { me.start_release(); }), tolerated_overshoot);
    me.start_release();
    std::error_code error;
    me.release(error);
    EXPECT_TRUE(error) << "now it is waited for";
    EXPECT_EQ(events->count("released"), 0u);
    server.signal(SIGCONT);
    EXPECT_TRUE(events->has("released"));
    EXPECT_FALSE(stored(me));
    me.release(error);
    EXPECT_FALSE(error);
    EXPECT_THAT(events->list(2), ElementsAre("registered", "released"));
}

TEST_P(AnnouncerTest, TheNextOfAnIdWaitsForTheEndOfTheLast) {
    server.kill();
    server.start({"appendonly yes", "appendfsync always"});
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    auto const was = me.instance();
    server.kill();
    ASSERT_TRUE(eventually([&] { return !is_connected(*by->core); }));
    std::error_code error;
    auto const took = time_of([&] { me.release(error); });
    EXPECT_EQ(error, errc::not_connected);
    EXPECT_LE(took, by->core->request_timeout() + tolerated_overshoot);
    auto again = by->announcer->announce(instance(), {});
    again.update_metadata({{"life", "2"}});
    again.release(error);
    EXPECT_FALSE(error) << "it never was on its way";
    auto const third = by->announcer->announce(instance(), {});
    server.start({"appendonly yes", "appendfsync always"});
    EXPECT_TRUE(events->has("released"));
    EXPECT_TRUE(eventually([&] { return third.registered(); }));
    EXPECT_TRUE(stored(was)) << "and not removed by the end of the first";
    EXPECT_EQ(events->count("removed_by_other"), 0u);
}

TEST_P(AnnouncerTest, WhatIsReleasedWhileRedisIsAwayIsGoneWhenItIsBack) {
    server.kill();
    server.start({"appendonly yes", "appendfsync always"});
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    server.kill();
    std::error_code error;
    me.release(error);
    EXPECT_TRUE(error);
    server.start({"appendonly yes", "appendfsync always"});
    EXPECT_TRUE(events->has("released"));
    EXPECT_FALSE(stored(me.instance()));
}

TEST_P(AnnouncerTest, ASecondReleaseTellsWhatBecameOfTheFirst) {
    server.kill();
    server.start({"appendonly yes", "appendfsync always"});
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    server.kill();
    ASSERT_TRUE(eventually([&] { return !is_connected(*by->core); }));
    std::error_code error;
    me.release(error);
    EXPECT_EQ(error, errc::not_connected);
    me.release(error);
    EXPECT_EQ(error, errc::not_connected) << "it is still registered";
    me.drain(1h, error);
    EXPECT_EQ(error, errc::not_connected) << "nothing is left to be drained";
    server.start({"appendonly yes", "appendfsync always"});
    EXPECT_TRUE(eventually([&] { return me.release(error), !error; }));
    EXPECT_FALSE(stored(me));
    me.release(error);
    EXPECT_FALSE(error);
}

TEST_P(AnnouncerTest, ItsEndTakesASecondAtMostWithRedisStopped) {
    auto by = owner(seldom);
    std::vector<Announcement> all;
    for (int i = 0; i < 20; ++i) all.push_back(announced(*by, instance(9'000 + i)));
    server.signal(SIGSTOP);
    EXPECT_LE(time_of([&] { all.pop_back(); }), 1s + tolerated_overshoot);
    EXPECT_LE(time_of([&] { all.clear(); }), 1s + tolerated_overshoot) << "of all together";
    EXPECT_LE(time_of([&] { by.reset(); }), 1s + tolerated_overshoot);
    server.signal(SIGCONT);
}

TEST_P(AnnouncerTest, ManyEndsTakeASecondTogetherAndLeaveNothing) {
    Detour const detour{server, 5ms};  // One after another, they would take four seconds.
    auto by = owner(seldom, detour.url());
    std::vector<Announcement> all;
    for (int i = 0; i < 400; ++i) all.push_back(announce(*by, instance(9'000 + i)));
    for (auto const& each : all) ASSERT_TRUE(eventually([&] { return each.registered(); }));
    std::vector<ServiceInstance> were;
    for (auto const& each : all) were.push_back(each.instance());
    EXPECT_LE(time_of([&] {
                  all.clear();
                  by.reset();
              }),
              1s + tolerated_overshoot);
    for (auto const& each : were) ASSERT_FALSE(stored(each)) << each.instance_id;
}

TEST_P(AnnouncerTest, ItsEndTakesNoTimeWithRedisGoneForLong) {
    server.kill();
    std::filesystem::remove(server.socket());
    auto by = owner(seldom);
    std::vector<Announcement> all;
    for (int i = 0; i < 20; ++i) all.push_back(announce(*by, instance(9'000 + i)));
    EXPECT_TRUE(eventually([&] { return log.has("cannot connect"); }));
    EXPECT_LE(time_of([&] { all.clear(); }), 1s + tolerated_overshoot);
    EXPECT_LE(time_of([&] { by.reset(); }), 1s + tolerated_overshoot);
}

TEST_P(AnnouncerTest, AnIdMayBeAnnouncedAgainWhileItsEndIsOnItsWay) {
    auto const by = owner(seldom);
    for (int i = 1; i <= 20; ++i) {
        auto described = instance();
        described.weight = i;
        auto me = announce(*by, described);
        EXPECT_TRUE(i % 2 == 1 || eventually([&] { return me.registered(); }));
        server.signal(SIGSTOP);
        std::thread release{[&] { me.release(); }};
        server.signal(SIGCONT);
        release.join();
    }
    auto const last = announced(*by, instance());
    EXPECT_EQ(field(last.instance(), "weight"), "1");
}

TEST_P(AnnouncerTest, AnAnnouncementMayEndInItsOwnHook) {
    auto const by = owner(50ms);
    auto mine = std::make_shared<std::optional<Announcement>>();
    std::promise<void> ended;
    std::mutex mutex;
    std::unique_lock lock{mutex};
    AnnounceOptions options;
    options.on_event = [&](AnnouncementEvent event) {
        if (event != AnnouncementEvent::registered) return;
        std::lock_guard const guard{mutex};
        mine->reset();
        ended.set_value();
    };
    mine->emplace(by->announcer->announce(instance(), options));
    lock.unlock();
    EXPECT_EQ(ended.get_future().wait_for(5s), std::future_status::ready);
    EXPECT_TRUE(eventually([&] { return !stored(by->port->validated(instance())); }));
}

TEST_P(AnnouncerTest, ItsEndWaitsForTheHookHoweverLongThatTakes) {
    auto const by = owner(seldom);
    std::atomic<int> begun = 0;
    std::atomic<int> ended = 0;
    AnnounceOptions options;
    options.on_event = [&](AnnouncementEvent) {
        ++begun;
        std::this_thread::sleep_for(1'500ms);  // Longer than the end waits for Redis.
        ++ended;
    };
    auto me = std::make_unique<Announcement>(by->announcer->announce(instance(), options));
    ASSERT_TRUE(eventually([&] { return begun == 1; }));
    me.reset();
    EXPECT_EQ(ended, 1) << "its captures may be gone now";
    by->announcer.reset();
    EXPECT_EQ(begun, 1) << "and it is not called again";
}

TEST_P(AnnouncerTest, ASecondReleaseWaitsForAnAnswerOfItsOwn) {
    auto const right = [this](char const* change) {
        admin().must({"ACL", "SETUSER", "own", "on", ">pw", "~*", "&*", "+@all", change});
    };
    right("+del");
    auto const by = owner(seldom, "unix://own:pw@" + server.socket());
    auto me = announced(*by, instance());
    right("-del");
    std::error_code error;
    me.release(error);
    EXPECT_EQ(error, errc::access_denied) << error.message();
    me.release(error);
    EXPECT_EQ(error, errc::access_denied) << "nor does it hang";
    right("+del");
    // The next try of its own comes in seconds.
    EXPECT_LE(time_of([&] { me.release(error); }), 1s);
    EXPECT_FALSE(error) << error.message();
    EXPECT_FALSE(stored(me));
}

TEST_P(AnnouncerTest, AForkedChildDoesNothing) {
    auto const by = owner(seldom);
    auto me = std::make_unique<Announcement>(announced(*by, instance()));
    auto const was = me->instance();
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 0;
        std::error_code error;
        me->update_metadata({{"of", "the child"}});
        me->release(error);
        if (error != errc::closed) wrong |= 1;
        try {
            (void)by->announcer->announce(instance(8081), {});
            wrong |= 2;
        } catch (Error const& e) {
            if (e.code() != errc::closed) wrong |= 4;
        }
        me.reset();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(stored(was));
    me->release();
    EXPECT_FALSE(stored(was));
}

}  // namespace rollcall::test

#include <atomic>
#include <gmock/gmock.h>
#include <optional>
#include <stdexcept>
#include <thread>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

class LiveListener : public LiveTest {
protected:
    Owners owners{server.url(), layout()};
    Registry registry = reader();
    Service service = watched(registry);
};

TEST_P(LiveListener, WhatItThrowsEndsNothing) {
    Heard heard;
    std::atomic<int> called = 0;
    auto const watch = service.on_change([&](Change const&) {
        ++called;
        throw std::runtime_error{"a bad listener"};
    });
    auto const other = service.on_change(heard.listener());
    owners.add(instance(1));
    owners.add(instance(2));
    EXPECT_TRUE(eventually([&] { return called == 2 && heard.size() == 2; }));
    EXPECT_TRUE(log.has("a bad listener"));
}

TEST_P(LiveListener, ReturnsFromStopWhenItRunsNoMore) {
    std::atomic<bool> running = false;
    std::atomic<bool> over = false;
    std::atomic<int> calls = 0;
    auto watch = service.on_change([&](Change const&) {
        running = true;
        ++calls;
        std::this_thread::sleep_for(100ms);
        over = true;
    });
    owners.add(instance(1));
    ASSERT_TRUE(eventually([&] { return running.load(); }));
    watch.stop();
    EXPECT_TRUE(over);
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_EQ(calls, 1);
    watch.stop();
}

TEST_P(LiveListener, MayStopItselfAndAskWhileItIsCalled) {
    std::optional<Watch> watch;
    std::mutex ready;
    std::atomic<int> calls = 0;
    std::atomic<std::size_t> seen = 0;
    {
        std::lock_guard const lock{ready};
        watch.emplace(service.on_change([&](Change const& change) {
            std::lock_guard const waited{ready};
            seen = service.instances().size() + change.now.size();
            watch->stop();
            ++calls;
        }));
    }
    owners.add(instance(1));
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_EQ(calls, 1);
    EXPECT_GE(seen, 2);
}

TEST_P(LiveListener, MayBeDestroyedWithEverythingElseInsideACall) {
    struct All {
        Client client;
        Registry registry;
        Service service;
        Watch watch;
    };
    auto all = std::make_shared<std::optional<All>>();
    std::atomic<bool> gone = false;
    Client passing{server.url()};
    Registry theirs{passing, layout()};
    auto their_service = theirs.service("web");
    all->emplace(All{std::move(passing), theirs, their_service, {}});
    owners.add(instance(1));
    std::mutex ready;
    {
        std::lock_guard const lock{ready};
        (*all)->watch = their_service.on_change([&, all](Change const&) {
            std::lock_guard const waited{ready};
            all->reset();
            gone = true;
        });
        their_service = service;
        theirs = registry;
    }
    EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST_P(LiveListener, IsNeverCalledOnTheThreadThatReads) {
    std::atomic<bool> release = false;
    auto const watch = service.on_change(
        [&](Change const&) { EXPECT_TRUE(eventually([&] { return release.load(); })); });
    owners.add(instance(1));
    EXPECT_TRUE(shows(service, {id(1)}));
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)})) << "a listener that sleeps holds nobody up";
    release = true;
}

TEST_P(LiveListener, MayBeStoppedOnTheThreadThatItsCallWaitsFor) {
    std::atomic<bool> called = false;
    std::atomic<bool> stopped = false;
    std::atomic<bool> ended = false;
    std::optional<Watch> watch;
    watch.emplace(service.on_change([&](Change const&) {
        called = true;
        EXPECT_TRUE(eventually([&] { return stopped.load(); }));
        EXPECT_EQ(registry.services().size(), 1U) << "which needs that thread";
        ended = true;
    }));
    owners.add(instance(1));
    ASSERT_TRUE(eventually([&] { return called.load(); }));
    rollcall::test::on_io_thread(*client.core(), [&] {
        watch->stop();
        stopped = true;
        std::error_code error;
        EXPECT_TRUE(registry.service("fresh").instances(error).empty());
        EXPECT_EQ(error, errc::closed) << "not loaded, and there is nobody to wait";
        return true;
    });
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

TEST_P(LiveListener, WhoFallsFarBehindIsToldToLookAgain) {
    std::atomic<bool> release = false;
    Heard heard;
    auto const watch = service.on_change([&, hear = heard.listener()](Change const& change) {
        hear(change);
        EXPECT_TRUE(eventually([&] { return release.load(); }, 60s));
    });
    owners.add(instance(1));
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    for (int round = 0; round < 101; ++round) {
        for (int number = 2; number <= 101; ++number) {
            auto changed = instance(number);
            changed.metadata = {{"round", std::to_string(round)}};
            owners.add(changed);
        }
        // Else several changes of one instance may be read as one.
        EXPECT_TRUE(eventually([&] {
            auto const* const last = service.instances().find(id(101));
            return last && last->metadata.at("round") == std::to_string(round);
        }));
    }
    release = true;
    EXPECT_TRUE(eventually([&] { return heard.has("resync"); }));
    owners.remove(id(1));
    EXPECT_TRUE(eventually([&] { return heard.has("removed " + id(1) + " (deregistered)"); }));
    EXPECT_LT(heard.size(), 10'000U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LiveListener, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::live::test

#include "redis/late_threads.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;

/// Ends with its thread, later than all that the thread was given to do.
struct LastAct {
    ~LastAct() {
        std::this_thread::sleep_for(20ms);
        if (act) act();
    }
    std::function<void()> act;
};

/// A thread that is left behind, and does `act` on its very end.
void leave_one_behind(std::chrono::milliseconds lasting, std::function<void()> act) {
    auto ended = std::make_shared<Event>();
    std::thread thread{[=] {
        thread_local LastAct last;
        last.act = act;
        std::this_thread::sleep_for(lasting);
        ended->set();
    }};
    leave_behind(std::move(thread), ended);
}

/// The exit code of a child that ends by `exit` after `act`, which runs in it alone.
int code_of_child(void (*act)()) {
    auto const child = ::fork();
    if (child == 0) {
        act();
        std::exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class LateThreads : public testing::Test {
protected:
    LateThreads() { expect_late_threads(); }
};

TEST_F(LateThreads, AreJoinedByTheNextOnceTheyHaveEnded) {
    std::atomic<bool> gone = false;
    auto ended = std::make_shared<Event>();
    leave_behind(std::thread{[&gone, ended] {
                     thread_local LastAct last;
                     last.act = [&gone] { gone = true; };
                     ended->set();
                 }},
                 ended);
    ended->wait();
    leave_one_behind(0ms, {});
    EXPECT_TRUE(gone);
}

TEST_F(LateThreads, AreWaitedForAtTheEndOfTheProgram) {
    EXPECT_EQ(code_of_child([] { leave_one_behind(50ms, [] { ::_exit(7); }); }), 7);
}

TEST_F(LateThreads, ThatDoNotEndHoldNobodyForLong) {
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_EQ(code_of_child([] { leave_one_behind(60s, {}); }), 2);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
}

TEST_F(LateThreads, ThatWereWaitedForAlreadyAreNotWaitedForAgain) {
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_EQ(code_of_child([] {
                  leave_behind(std::thread{[] { std::this_thread::sleep_for(60s); }},
                               std::make_shared<Event>(), 0ms);
                  leave_one_behind(0ms, [] { ::_exit(7); });
              }),
              7);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
}

TEST_F(LateThreads, OfAParentAreNotWaitedForInAChild) {
    std::atomic<bool> goes_on = true;
    Event runs;  // Before, it may hold locks of the allocator's, which a child would wait for.
    auto ended = std::make_shared<Event>();
    leave_behind(std::thread{[&goes_on, &runs, ended] {
                     runs.set();
                     while (goes_on) std::this_thread::sleep_for(1ms);
                     ended->set();
                 }},
                 ended);
    runs.wait();
    EXPECT_EQ(code_of_child([] {}), 2);
    goes_on = false;
    ended->wait();
}

TEST_F(LateThreads, MayLeaveOthersBehind) {
    std::atomic<int> gone = 0;
    leave_one_behind(0ms, [&gone] {
        leave_one_behind(0ms, [&gone] { ++gone; });
        ++gone;
    });
    while (gone < 2) std::this_thread::sleep_for(1ms);
    leave_one_behind(0ms, {});
}

}  // namespace
}  // namespace rollcall::redis

#include "redis/callback_thread.hpp"

#include <atomic>
#include <csignal>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/log_book.hpp"

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;
using rollcall::test::LogBook;

/// Waits until all that was handed over before has run.
void finish(CallbackThread& thread) {
    std::promise<void> done;
    thread.post([&] { done.set_value(); });
    done.get_future().wait();
}

TEST(CallbackThread, RunsInOrderOnOneThreadThatIsNotTheCallers) {
    CallbackThread thread{Log{}};
    EXPECT_FALSE(thread.is_current());
    std::vector<int> seen;
    bool all_current = true;
    for (int i = 0; i < 100; ++i) {
        thread.post([&, i] {
            seen.push_back(i);
            all_current = all_current && thread.is_current();
        });
    }
    finish(thread);
    EXPECT_TRUE(all_current);
    ASSERT_EQ(seen.size(), 100u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(CallbackThread, LogsWhatIsThrownAndGoesOn) {
    LogBook log;
    CallbackThread thread{Log{log.callback()}};
    thread.post([] { throw std::runtime_error{"no luck"}; });
    finish(thread);
    EXPECT_TRUE(log.has("a callback threw: no luck"));
    LogBook other;
    CallbackThread odd{Log{other.callback()}};
    odd.post([] { throw 5; });
    finish(odd);
    EXPECT_TRUE(other.has("a callback threw"));
}

TEST(CallbackThread, ItsEndWaitsForTheCallbackThatRunsAndDropsTheRest) {
    std::atomic<int> ended = 0;
    std::promise<void> running;
    {
        CallbackThread thread{Log{}};
        thread.post([&] {
            running.set_value();
            std::this_thread::sleep_for(20ms);
            ++ended;
        });
        thread.post([&] { ended += 100; });
        running.get_future().wait();
    }
    EXPECT_EQ(ended, 1);
}

TEST(CallbackThread, MayEndInsideACallback) {
    auto thread = std::make_shared<std::optional<CallbackThread>>(std::in_place, Log{});
    std::promise<void> ended;
    (*thread)->post([&ended, thread] {
        thread->reset();
        ended.set_value();
    });
    thread.reset();
    EXPECT_EQ(ended.get_future().wait_for(5s), std::future_status::ready);
}

TEST(CallbackThread, BlocksAllSignals) {
    CallbackThread thread{Log{}};
    sigset_t blocked{};
    thread.post([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
    finish(thread);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGUSR1), 1);
}

TEST(CallbackThread, DoesNothingInAForkedChild) {
    auto thread = std::make_unique<CallbackThread>(Log{});
    finish(*thread);
    auto const child = ::fork();
    if (child == 0) {
        thread->post([] { ::_exit(2); });
        bool const current = thread->is_current();
        thread.reset();
        ::_exit(current ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace rollcall::redis

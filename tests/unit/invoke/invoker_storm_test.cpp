// What an invoker does when everything fails: bounded, and over when the failure is.

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "unit/invoke/fakes.hpp"

#include "rollcall/error.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using test::FakeBalancer;
using test::FakeClock;
using test::FakeReporter;
using test::FakeSource;

using Ids = std::vector<std::string>;

constexpr int max_attempts = 3;

class Storm : public testing::Test {
protected:
    bool try_to_call() {
        try {
            invoker.invoke("orders", [&](ServiceInstance const& instance) {
                ++calls;
                ++calls_of[instance.instance_id];
                if (failing) throw std::runtime_error{"down"};
            });
            return true;
        } catch (std::exception const&) {
            return false;
        }
    }

    std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
    FakeSource source{Ids{"a", "b", "c", "d", "e"}};
    ClientInvoker invoker{source, std::make_shared<FakeBalancer>(), options()};
    bool failing = true;
    int calls = 0;
    std::map<std::string, int> calls_of;

private:
    InvokerOptions options() const {
        InvokerOptions options;
        options.retry_policy = RetryPolicy{max_attempts, 10ms, 2.0, 200ms, 10ms};
        options.clock = clock;
        return options;
    }
};

// A minute of a thousand invocations while all fail: each instance is called once, and then once in
// each five seconds.
TEST_F(Storm, IsMetWithFewCallsAndEndsWhenTheFailureDoes) {
    auto const begun = clock->now();
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_FALSE(try_to_call());
        clock->pass(20ms);
    }
    auto const lasted = clock->now() - begun;
    auto const most_of_each = static_cast<int>(lasted / 5s) + 1;
    EXPECT_EQ(calls_of.size(), 5u);
    for (auto const& [id, count] : calls_of) EXPECT_LE(count, most_of_each) << id;
    EXPECT_GE(calls, 5 * (most_of_each - 1) / 2);
    auto const stormy = invoker.metrics().total;
    EXPECT_LE(stormy.attempts, 1'000u * max_attempts);
    EXPECT_EQ(stormy.successes, 0u);
    EXPECT_EQ(stormy.failures, static_cast<std::uint64_t>(calls));
    EXPECT_EQ(stormy.failures + stormy.cb_open_skips, stormy.attempts);

    failing = false;
    auto const ended = clock->now();
    while (!try_to_call()) clock->pass(20ms);
    EXPECT_LE(clock->now() - ended, 5s);
    clock->pass(5s);
    calls_of.clear();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(try_to_call());
    EXPECT_EQ(calls_of,
              (std::map<std::string, int>{{"a", 10}, {"b", 10}, {"c", 10}, {"d", 10}, {"e", 10}}));
}

// Ends of calls.

class Permits : public testing::Test {
protected:
    Permits() {
        InvokerOptions options;
        options.retry_policy = RetryPolicy{1};
        options.clock = clock;
        options.reporter = reporter;
        invoker =
            std::make_unique<ClientInvoker>(source, std::make_shared<FakeBalancer>(), options);
        EXPECT_THROW(invoker->invoke("orders", [](auto const&) { throw std::runtime_error{""}; }),
                     std::runtime_error);
        clock->pass(5s);
    }

    /// The breaker is half open: whether the one trial is there to be had.
    bool is_called() {
        bool called = false;
        invoker->invoke("orders", [&](auto const&) { called = true; });
        return called;
    }

    std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
    std::shared_ptr<FakeReporter> reporter = std::make_shared<FakeReporter>();
    FakeSource source{Ids{"a"}};
    std::unique_ptr<ClientInvoker> invoker;
};

TEST_F(Permits, Defect42_GoBackWhenTheCallIsCancelled) {
    auto const before = invoker->metrics().total;
    for (auto const code :
         {make_error_code(errc::cancelled), std::make_error_code(std::errc::operation_canceled)}) {
        EXPECT_THROW(invoker->invoke("orders", [&](auto const&) { throw std::system_error{code}; }),
                     std::system_error);
        EXPECT_EQ(reporter->told().back(), "- orders:a");
    }
    auto const after = invoker->metrics().total;
    EXPECT_EQ(after.attempts, before.attempts + 2);
    EXPECT_EQ(after.failures, before.failures);
    EXPECT_TRUE(is_called());
}

TEST_F(Permits, Defect42_GoBackWhenAStopCameDuringTheCall) {
    std::stop_source stop;
    InvokeOptions how;
    how.stop = stop.get_token();
    auto const call = [&](auto const&) {
        stop.request_stop();
        throw std::runtime_error{"aborted"};
    };
    EXPECT_THROW(invoker->invoke("orders", call, how), std::runtime_error);
    EXPECT_TRUE(is_called());
}

TEST_F(Permits, Defect42_AreTakenByAFailureWhateverIsThrown) {
    EXPECT_THROW(invoker->invoke("orders", [](auto const&) { throw 42; }), int);
    EXPECT_THROW(is_called(), Error);
    clock->pass(5s);
    EXPECT_THROW(invoker->invoke("orders", [](auto const&) { throw "text"; }), char const*);
    clock->pass(5s);
    EXPECT_TRUE(is_called());
}

TEST_F(Permits, Defect42_GoBackWhenTheThreadIsCancelled) {
    std::atomic<bool> inside = false;
    std::thread thread{[&] {
        invoker->invoke("orders", [&](auto const&) {
            inside = true;
            for (;;) ::pause();
        });
    }};
    while (!inside) std::this_thread::yield();
    ASSERT_EQ(::pthread_cancel(thread.native_handle()), 0);
    thread.join();
    EXPECT_EQ(reporter->told().back(), "- orders:a");
    EXPECT_TRUE(is_called());
}

TEST_F(Permits, NeverLeakWhateverThreadsDo) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2'000; ++i) {
                try {
                    invoker->invoke("orders", [&](auto const&) {
                        switch ((i + t) % 5) {
                            case 0:
                                throw std::runtime_error{""};
                            case 1:
                                throw 42;
                            case 2:
                                throw Error{errc::cancelled, ""};
                            case 3:
                                std::this_thread::yield();
                                break;
                            default:
                                break;
                        }
                    });
                } catch (...) {
                    clock->pass(1s);
                }
            }
        });
    }
    threads.clear();
    clock->pass(5s);
    EXPECT_TRUE(is_called());
    EXPECT_TRUE(is_called());
    long inflight = 0;
    for (auto const& line : reporter->told()) {
        if (line.starts_with('+')) ++inflight;
        if (line.starts_with('-')) --inflight;
    }
    EXPECT_EQ(inflight, 0);
    auto const counts = invoker->metrics().total;
    EXPECT_GT(counts.successes, 0u);
    EXPECT_GT(counts.cb_open_skips, 0u);
}

}  // namespace
}  // namespace rollcall::streaming

#include "redis/callback_queue.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
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
using ::testing::ElementsAre;
using Queue = CallbackQueue<int>;

int negated(int const last) { return -last; }

/// Keeps the callback thread busy until it ends.
class Hold {
public:
    explicit Hold(CallbackThread& thread) {
        std::promise<void> entered;
        auto const running = entered.get_future();
        thread.post([&entered, gate = gate_.get_future().share()] {
            entered.set_value();
            gate.wait();
        });
        running.wait();
    }
    ~Hold() { gate_.set_value(); }
    Hold(Hold const&) = delete;
    Hold& operator=(Hold const&) = delete;

private:
    std::promise<void> gate_;
};

class CallbackQueues : public testing::Test {
protected:
    std::shared_ptr<Queue> queue(Queue::Callback callback, std::size_t bound = Queue::usual_bound) {
        return std::make_shared<Queue>(std::move(callback), negated, thread, bound);
    }

    std::shared_ptr<Queue> collecting(std::size_t bound = Queue::usual_bound) {
        return queue([this](int item) { seen.push_back(item); }, bound);
    }

    /// All that was posted has been told: a queue has one item at a time on the thread.
    void finish(int turns = 64) {
        for (int i = 0; i < turns; ++i) {
            std::promise<void> done;
            thread->post([&] { done.set_value(); });
            done.get_future().wait();
        }
    }

    LogBook log;
    std::shared_ptr<CallbackThread> thread = std::make_shared<CallbackThread>(Log{log.callback()});
    std::vector<int> seen;  // By the callback thread; read after `finish`.
};

TEST_F(CallbackQueues, TellsInOrderOnTheCallbackThread) {
    bool all_current = true;
    auto const told = queue([&](int item) {
        seen.push_back(item);
        all_current = all_current && thread->is_current();
    });
    for (int i = 0; i < 50; ++i) told->post(i);
    finish();
    ASSERT_EQ(seen.size(), 50u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_TRUE(all_current);
}

TEST_F(CallbackQueues, ReceiversTakeTurns) {
    std::vector<int> order;
    auto const a = queue([&](int) { order.push_back(1); });
    auto const b = queue([&](int) { order.push_back(2); });
    {
        Hold const hold{*thread};
        for (int i = 0; i < 3; ++i) a->post(i);
        for (int i = 0; i < 3; ++i) b->post(i);
    }
    finish();
    EXPECT_THAT(order, ElementsAre(1, 2, 1, 2, 1, 2));
}

TEST_F(CallbackQueues, OneMarkStandsForAllThatWasTooMuch) {
    auto const told = collecting(3);
    {
        Hold const hold{*thread};
        for (int i = 1; i <= 3; ++i) told->post(i);
    }
    finish();
    EXPECT_THAT(seen, ElementsAre(1, 2, 3));
    seen.clear();
    {
        Hold const hold{*thread};
        for (int i = 1; i <= 6; ++i) told->post(i);
    }
    finish();
    EXPECT_THAT(seen, ElementsAre(-6));
    seen.clear();
    told->post(7);
    finish();
    EXPECT_THAT(seen, ElementsAre(7));
}

TEST_F(CallbackQueues, WhatIsThrownIsLoggedAndTheNextIsTold) {
    auto const told = queue([this](int item) {
        if (item == 1) throw std::runtime_error{"no luck"};
        seen.push_back(item);
    });
    told->post(1);
    told->post(2);
    finish();
    EXPECT_THAT(seen, ElementsAre(2));
    EXPECT_TRUE(log.has("a callback threw: no luck"));
}

TEST_F(CallbackQueues, StopWaitsForTheCallbackThatRunsAndDropsTheRest) {
    std::promise<void> entered;
    std::atomic<int> ended = 0;
    auto const told = queue([&](int) {
        entered.set_value();
        std::this_thread::sleep_for(20ms);
        ++ended;
    });
    told->post(1);
    told->post(2);
    entered.get_future().wait();
    told->stop();
    EXPECT_EQ(ended, 1);
    told->post(3);
    finish();
    EXPECT_EQ(ended, 1);
}

TEST_F(CallbackQueues, StopsInsideItsCallback) {
    std::shared_ptr<Queue> told;
    told = queue([&](int item) {
        seen.push_back(item);
        told->stop();
    });
    {
        Hold const hold{*thread};
        told->post(1);
        told->post(2);
    }
    finish();
    EXPECT_THAT(seen, ElementsAre(1));
}

TEST_F(CallbackQueues, StopsAnotherInsideACallback) {
    auto const other = collecting();
    auto const told = queue([&](int) { other->stop(); });
    {
        Hold const hold{*thread};
        told->post(1);
        other->post(2);
    }
    finish();
    EXPECT_TRUE(seen.empty());
}

TEST_F(CallbackQueues, WhatTheCallbackHoldsEndsWithStop) {
    auto held = std::make_shared<int>(0);
    std::weak_ptr<int> const watch = held;
    auto const told = queue([held](int) {});
    held.reset();
    EXPECT_FALSE(watch.expired());
    told->stop();
    EXPECT_TRUE(watch.expired());
}

TEST_F(CallbackQueues, WhatTheCallbackHoldsEndsAfterAStopInside) {
    auto told = std::make_shared<std::shared_ptr<Queue>>();
    std::weak_ptr<std::shared_ptr<Queue>> const watch = told;
    *told = queue([told](int) { (*told)->stop(); });
    (*told)->post(1);
    told.reset();
    finish();
    EXPECT_TRUE(watch.expired());
}

TEST_F(CallbackQueues, NothingIsToldAfterStopReturned) {
    for (int round = 0; round < 200; ++round) {
        std::atomic<bool> stopped = false;
        std::atomic<int> late = 0;
        auto const told = queue([&](int) { late += stopped ? 1 : 0; });
        std::thread poster{[&] {
            for (int i = 0; i < 20; ++i) told->post(i);
        }};
        told->stop();
        stopped = true;
        poster.join();
        finish(1);
        EXPECT_EQ(late, 0);
    }
}

TEST_F(CallbackQueues, AForkedChildIsNotHeldUpByACallbackOfItsParent) {
    std::promise<void> entered;
    std::promise<void> leave;
    auto const told = queue([&](int) {
        entered.set_value();
        leave.get_future().wait();
    });
    told->post(1);
    entered.get_future().wait();
    auto const child = ::fork();
    if (child == 0) {
        told->stop();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    leave.set_value();
    told->stop();
}

}  // namespace
}  // namespace rollcall::redis

#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "redis/task.hpp"

namespace rollcall::live {

/// Lets reads of whole services begin one after the other once many are under way. All of them at
/// once, as after a reconnect, would have Redis answer each when its time is long over, to be asked
/// again by all.
///
/// Thread safety: the I/O thread only, construction aside.
/// Lifetime: must outlive turns and waiting coroutines.
class ReadTurns {
    struct Waiter;

public:
    /// `limit`: of the instances that are read at a time.
    explicit ReadTurns(std::size_t limit) : limit_(limit) {}

    /// That of one read, until its end.
    class Turn {
    public:
        Turn(Turn&& other) noexcept
            : turns_(std::exchange(other.turns_, nullptr)), cost_(other.cost_) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (turns_) turns_->end(cost_);
        }

    private:
        friend class ReadTurns;
        Turn(ReadTurns& turns, std::size_t cost) : turns_(&turns), cost_(cost) {
            turns_->under_way_ += cost_;
        }

        ReadTurns* turns_;
        std::size_t cost_;
    };

    /// For a service of about `size` instances. None: the coroutine is to end.
    Task<std::optional<Turn>> take(std::size_t size) {
        auto const cost = std::clamp(size, std::min(least_cost, limit_), limit_);
        if (waiting_.empty() && fits(cost)) co_return Turn{*this, cost};
        auto const executor = co_await asio::this_coro::executor;
        Waiter waiter{*this, executor, cost};
        co_await waiter.timer.async_wait(asio::as_tuple(use_task));
        co_return std::move(waiter.turn);
    }

private:
    using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>,
                                             asio::io_context::executor_type>;

    /// Of one of unknown size, too: some round trips are a cost of their own.
    static constexpr std::size_t least_cost = 256;

    struct Waiter {
        Waiter(ReadTurns& all, asio::io_context::executor_type const& executor, std::size_t given)
            : turns(all), timer(executor, Timer::time_point::max()), cost(given) {
            turns.waiting_.push_back(this);
        }
        ~Waiter() {
            if (admitted) return;
            std::erase(turns.waiting_, this);
            turns.admit();  // Who was behind it may need less.
        }
        Waiter(Waiter const&) = delete;
        Waiter& operator=(Waiter const&) = delete;

        ReadTurns& turns;
        Timer timer;  // Never expires; cancelled by who admits it.
        std::size_t cost;
        bool admitted = false;
        std::optional<Turn> turn = {};
    };

    bool fits(std::size_t cost) const noexcept { return under_way_ + cost <= limit_; }

    void end(std::size_t cost) noexcept {
        under_way_ -= cost;
        admit();
    }

    void admit() noexcept {
        while (!waiting_.empty() && fits(waiting_.front()->cost)) {
            auto& next = *waiting_.front();
            waiting_.pop_front();
            next.admitted = true;
            next.turn.emplace(Turn{*this, next.cost});
            next.timer.cancel();
        }
    }

    std::size_t limit_;
    std::size_t under_way_ = 0;
    std::deque<Waiter*> waiting_;
};

}  // namespace rollcall::live

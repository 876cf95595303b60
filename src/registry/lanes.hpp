#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/deadline.hpp"
#include "redis/task.hpp"

#include "rollcall/instance.hpp"

namespace rollcall {

/// What an operation does with the instance whose lane it takes. Those whose order makes no
/// difference, the same about equal instances, pass together when they wait side by side: else many
/// threads with one instance would pay a round trip each, one after the other.
///
/// Lifetime: refers to the instance for as long as the operation waits.
class LaneUse {
public:
    LaneUse() = default;  ///< Alone.
    static LaneUse registration(ServiceInstance const& instance) { return {1, &instance}; }
    static LaneUse renewal(ServiceInstance const& instance) { return {2, &instance}; }
    static LaneUse removal() { return {3, nullptr}; }

    bool passes_with(LaneUse const& other) const {
        if (kind_ == 0 || kind_ != other.kind_) return false;
        return !instance_ || *instance_ == *other.instance_;
    }

private:
    LaneUse(int kind, ServiceInstance const* instance) : kind_(kind), instance_(instance) {}

    int kind_ = 0;
    ServiceInstance const* instance_ = nullptr;
};

/// Lets operations on one instance pass one after the other, in the order in which they came. `Key`
/// tells instances apart.
///
/// Requests on one connection are not carried out in the order in which they were made: a script
/// that Redis does not know is sent a second time, behind what was sent meanwhile, and so is what a
/// connection that broke left unanswered. Of two writes to one instance the later one must win.
///
/// Thread safety: the I/O thread only.
/// Lifetime: must outlive passes and waiting coroutines.
template <class Key>
class Lanes {
    struct Waiter;
    struct Lane {
        std::size_t inside = 1;
        std::deque<Waiter*> waiting = {};
    };
    using Map = std::map<Key, Lane>;

public:
    /// The lane of a key, until its end.
    class Pass {
    public:
        Pass(Pass&& other) noexcept
            : lanes_(std::exchange(other.lanes_, nullptr)), at_(other.at_) {}
        Pass& operator=(Pass&&) = delete;
        ~Pass() {
            if (lanes_) lanes_->leave(at_);
        }

    private:
        friend class Lanes;
        Pass(Lanes& lanes, typename Map::iterator at) : lanes_(&lanes), at_(at) {}

        Lanes* lanes_;
        typename Map::iterator at_;
    };

    /// None: somebody has it.
    std::optional<Pass> try_enter(Key const& key) {
        auto const [at, free] = lanes_.try_emplace(key);
        if (!free) return std::nullopt;
        return Pass{*this, at};
    }

    /// None: whoever has it, or comes first, did not leave it before the deadline.
    Task<std::optional<Pass>> enter(Key key, Deadline deadline, LaneUse use = {}) {
        if (auto pass = try_enter(key)) co_return pass;
        auto const executor = co_await asio::this_coro::executor;
        Waiter waiter{lanes_.find(key), executor, deadline, use};
        co_await waiter.timer.async_wait(asio::as_tuple(use_task));
        co_return std::move(waiter.pass);
    }

private:
    using Clock = std::chrono::steady_clock;
    using Executor = asio::io_context::executor_type;

    struct Waiter {
        Waiter(typename Map::iterator lane, Executor const& executor, Deadline deadline,
               LaneUse const& given)
            : at(lane), timer(executor, deadline), use(given) {
            at->second.waiting.push_back(this);
        }
        ~Waiter() {
            if (!admitted) std::erase(at->second.waiting, this);
        }
        Waiter(Waiter const&) = delete;
        Waiter& operator=(Waiter const&) = delete;

        typename Map::iterator at;
        /// Cancelled by who admits it.
        asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer;
        LaneUse use;
        bool admitted = false;
        std::optional<Pass> pass = {};
    };

    void leave(typename Map::iterator at) noexcept {
        auto& [inside, waiting] = at->second;
        if (--inside > 0) return;
        if (waiting.empty()) {
            lanes_.erase(at);
            return;
        }
        auto const& first = waiting.front()->use;
        do {
            auto& next = *waiting.front();
            waiting.pop_front();
            ++inside;
            next.admitted = true;
            next.pass.emplace(Pass{*this, at});
            next.timer.cancel();
        } while (!waiting.empty() && waiting.front()->use.passes_with(first));
    }

    Map lanes_;  // One for each key that somebody has, with those who wait.
};

}  // namespace rollcall

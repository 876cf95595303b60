#include "cosky/lanes.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>

namespace rollcall::cosky {
namespace {

using Clock = std::chrono::steady_clock;
using Timer =
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>;

}  // namespace

struct Lanes::Waiter {
    Waiter(Map::iterator lane, asio::io_context::executor_type const& executor, Deadline deadline)
        : at(lane), timer(executor, deadline) {
        at->second.push_back(this);
    }
    ~Waiter() {
        if (!admitted) std::erase(at->second, this);
    }
    Waiter(Waiter const&) = delete;
    Waiter& operator=(Waiter const&) = delete;

    Map::iterator at;
    Timer timer;  // Cancelled by who admits it.
    bool admitted = false;
    std::optional<Pass> pass = {};
};

std::optional<Lanes::Pass> Lanes::try_enter(NamespacedInstanceId const& id) {
    auto const [at, free] = lanes_.try_emplace(id);
    if (!free) return std::nullopt;
    return Pass{*this, at};
}

Task<std::optional<Lanes::Pass>> Lanes::enter(NamespacedInstanceId const& id, Deadline deadline) {
    if (auto pass = try_enter(id)) co_return pass;
    auto const executor = co_await asio::this_coro::executor;
    Waiter waiter{lanes_.find(id), executor, deadline};
    co_await waiter.timer.async_wait(asio::as_tuple(use_task));
    co_return std::move(waiter.pass);
}

void Lanes::leave(Map::iterator at) noexcept {
    auto& waiting = at->second;
    if (waiting.empty()) {
        lanes_.erase(at);
        return;
    }
    auto& next = *waiting.front();
    waiting.pop_front();
    next.admitted = true;
    next.pass.emplace(Pass{*this, at});
    next.timer.cancel();
}

}  // namespace rollcall::cosky

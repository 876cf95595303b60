#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <utility>

#include "core/deadline.hpp"
#include "redis/task.hpp"

namespace rollcall::announce {

/// Lets one coroutine wait for a moment or for a call, whichever comes first. A call while nobody
/// waits is kept for the next who does.
///
/// Thread safety: the I/O thread only.
class Wake {
public:
    explicit Wake(asio::io_context& io) : timer_(io) {}

    void notify() {
        notified_ = true;
        timer_.cancel();
    }

    Task<void> wait_until(Deadline moment) {
        if (!notified_) {
            timer_.expires_at(std::min(moment, after(longest_limit)));
            co_await timer_.async_wait(asio::as_tuple(use_task));
        }
        notified_ = false;
    }

private:
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>,
                               asio::io_context::executor_type>
        timer_;
    bool notified_ = false;
};

}  // namespace rollcall::announce

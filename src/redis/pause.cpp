#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include "core/deadline.hpp"
#include "redis/task.hpp"

namespace rollcall {

Task<bool> pause(std::chrono::milliseconds time) {
    using Clock = std::chrono::steady_clock;
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>
        timer{co_await asio::this_coro::executor, after(time)};
    auto const [error] = co_await timer.async_wait(asio::as_tuple(use_task));
    auto const state = co_await asio::this_coro::cancellation_state;  // It may have come too late.
    co_return !error && state.cancelled() == asio::cancellation_type::none;
}

bool is_cancellation(std::exception const& error) noexcept {
    auto const* const known = dynamic_cast<boost::system::system_error const*>(&error);
    return known && known->code() == asio::error::operation_aborted;
}

}  // namespace rollcall

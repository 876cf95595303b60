#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>

namespace rollcall {

namespace asio = boost::asio;

/// A coroutine on the client's I/O thread. Its parameters are values, or references to what
/// outlives it; it captures nothing.
template <class T>
using Task = asio::awaitable<T, asio::io_context::executor_type>;

inline constexpr asio::use_awaitable_t<asio::io_context::executor_type> use_task{};

/// Lets `time` pass. False when it was cut short because the coroutine is to end; awaiting anything
/// after that throws `asio::error::operation_aborted`, which ends a spawned coroutine quietly.
Task<bool> pause(std::chrono::milliseconds time);

/// Whether `error` is what awaiting throws in a coroutine that is to end.
bool is_cancellation(std::exception const& error) noexcept;

}  // namespace rollcall

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rollcall {

namespace asio = boost::asio;

/// A coroutine on the client's I/O thread. Its parameters are values, or references to what
/// outlives it; it captures nothing.
template <class T>
using Task = asio::awaitable<T, asio::io_context::executor_type>;

inline constexpr asio::use_awaitable_t<asio::io_context::executor_type> use_task{};

}  // namespace rollcall

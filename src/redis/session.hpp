#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/request.hpp"
#include "redis/task.hpp"
#include "redis/url.hpp"

namespace rollcall::redis {

struct SessionOptions {
    Url url = {};
    std::string client_name = "rollcall";
    std::size_t max_in_flight = 1'000;
};

/// The command connection to one Redis: made again for ever, with a deadline on every request.
///
/// Thread safety: the I/O thread only.
class Session {
public:
    Session(asio::io_context& io, SessionOptions options, Log log);
    ~Session();

    void start();  ///< Begins to connect.
    /// Fails what is waiting with `errc::closed` and closes the connection.
    void stop();

    /// Sends `request` when connected and there is room; fills `response` with one value for each
    /// command. Fails as a whole only when no complete answer came: `errc::timeout`,
    /// `errc::not_connected` (the deadline passed without any connection), `errc::closed`. A
    /// command that Redis refuses is an error value among the others: see `failure_of`.
    ///
    /// `request` and `response` must outlive the operation. A write whose connection breaks after
    /// it was sent is not sent twice unless `idempotent`.
    Task<Result<void>> exec(Request const& request, Response& response, Deadline deadline,
                            bool idempotent = true);

    bool connected() const noexcept;
    /// Why the last attempt to connect or to log in failed; empty after a success.
    std::string const& last_error() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// What an error reply means: NOAUTH, WRONGPASS, NOPERM → `access_denied`; LOADING, MISCONF,
/// READONLY, MASTERDOWN, CLUSTERDOWN, TRYAGAIN, BUSY → `unavailable`; OOM → `overloaded`; WRONGTYPE
/// and others → `unexpected_reply`. `what` says what was attempted.
Failure failure_of(Value error, std::string_view what);

}  // namespace rollcall::redis

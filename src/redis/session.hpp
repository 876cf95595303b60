#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/request.hpp"
#include "redis/task.hpp"
#include "redis/url.hpp"

namespace rollcall::redis {

class Link;
class ServerWatch;

struct SessionOptions {
    Url url = {};
    std::string client_name = "rollcall";
    std::size_t max_in_flight = 1'000;
    /// A connection on which nothing came in for so long, at most twice, is asked for a sign of
    /// life, and given up when none comes within `patience`. A refused PING is one, and so is a
    /// part of a reply. The defaults notice a dead connection within a second; a Redis that does
    /// not answer anybody for so long counts as dead.
    std::chrono::milliseconds ping_interval{150};
    std::chrono::milliseconds patience{500};
    /// For connecting and logging in together.
    std::chrono::milliseconds connect_limit{5'000};
    /// For logging in, once there is somebody at the other end.
    std::chrono::milliseconds login_limit{1'000};
    /// Nor is a connection borne on which bytes arrive, but no answer for so long: fewer bytes than
    /// a long answer on a slow line would bring. See `AnswerWatch`.
    std::chrono::milliseconds answer_limit{3'000};
    /// Common to the connections of a client; may be null.
    std::shared_ptr<ServerWatch> servers = {};
};

/// Is told of the connections of a session, on the I/O thread. Must not throw.
class ConnectionListener {
public:
    virtual void connected() = 0;  ///< Requests are sent from now on.
    virtual void disconnected() = 0;
    virtual void attempt_failed() {}  ///< Another one, while there is no connection.

protected:
    ~ConnectionListener() = default;
};

/// The command connection to one Redis: made again for ever, with a deadline on every request.
///
/// Thread safety: the I/O thread only.
/// Lifetime: after `stop`, the `io_context` must have run out of work before it is destroyed.
class Session {
public:
    Session(asio::io_context& io, SessionOptions options, Log log);
    ~Session();

    void start();  ///< Begins to connect; again: nothing.
    /// Fails what is waiting with `errc::closed` and closes the connection.
    void stop();

    /// Sends `request` when connected and there is room; fills `response` with one value for each
    /// command. Fails as a whole only when no complete answer came: `errc::timeout`,
    /// `errc::not_connected` (the deadline passed without a connection), `errc::access_denied` (the
    /// log-in was refused: at once), `errc::cancelled`, `errc::closed`. A command that Redis
    /// refuses is an error value among the others: see `failure_of`.
    ///
    /// `request` and `response` must outlive the operation; neither is touched after it. A request
    /// whose connection breaks after it was sent is sent again when `idempotent`, else it fails
    /// with `errc::timeout`.
    Task<Result<void>> exec(Request const& request, Response& response, Deadline deadline,
                            bool idempotent = true);

    /// `listener` is told of each connection from now on, until `detach` or `stop`.
    void attach(ConnectionListener& listener);
    void detach(ConnectionListener& listener);

    bool connected() const noexcept;
    /// The number of the connection, counted from 1; 0 without one.
    std::uint64_t connection() const noexcept;
    /// There is no connection, and not because Redis refused the log-in.
    bool absent() const noexcept;
    /// Attempts to connect that have ended since the last connection; its own end is one.
    unsigned failed_attempts() const noexcept;
    /// Why there is no connection: what the last attempt to connect or log in met, or how the last
    /// connection ended. Empty while connected. May hold what Redis said: untrusted text.
    std::string const& last_error() const noexcept;
    /// The numeric address of this end of the connection; empty without one and for unix sockets.
    std::string local_address() const;

private:
    struct Listeners;
    std::unique_ptr<Listeners> listeners_;
    std::unique_ptr<Link> link_;
};

/// What an error reply means: NOAUTH, WRONGPASS, NOPERM → `access_denied`; LOADING, MISCONF,
/// READONLY, MASTERDOWN, CLUSTERDOWN, TRYAGAIN, BUSY → `unavailable`; OOM → `overloaded`; WRONGTYPE
/// and others → `unexpected_reply`. `what` says what was attempted.
Failure failure_of(Value error, std::string_view what);

}  // namespace rollcall::redis

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#pragma GCC visibility push(default)

namespace rollcall {

namespace redis {
class ClientCore;
}

enum class LogLevel { debug, info, warning, error };

/// Receives what would be logged, where it happened; must not block or throw; rate-limited.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// How a client reaches Redis and how much it may ask of it.
struct ClientOptions {
    /// `redis://[user:password@]host[:port][/db]` or `unix://[user:password@]/path[?db=N]`; the
    /// user part is percent-encoded. Empty: `$ROLLCALL_URL`, then the embedded server of this user
    /// if one runs, then `redis://127.0.0.1:6379`.
    std::string url = {};
    /// Deadline of each operation, waiting for a connection included.
    std::chrono::milliseconds request_timeout{2'000};
    /// Further requests wait their turn, within their deadline.
    std::size_t max_in_flight = 1'000;
    /// Empty: nothing is written anywhere.
    LogCallback log = {};
};

/// A connection to one Redis and the one thread that serves it.
///
/// Construction never waits and never fails for an absent Redis: calls wait for it within their
/// deadline. A lost connection is made again for ever, with jittered pauses of at most a second.
///
/// Errors: construction throws `std::invalid_argument` for a malformed URL or option, and
/// `std::system_error` when the process may have no more descriptors or threads.
/// Thread safety: all members from any thread, moving and destroying aside.
/// Fork: a child gets `errc::closed` from whatever does I/O; destroying the client there touches
/// nothing that belongs to the parent.
/// Lifetime: providers, consumers and admins keep what they need of a client alive; the last one's
/// destruction ends the thread, within a second.
class Client {
public:
    explicit Client(std::string url = {});
    explicit Client(ClientOptions options);
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    /// Waits until Redis answers a PING, at most `limit`.
    ///
    /// Errors: `errc::not_connected` when it cannot be reached, `errc::unavailable` while it loads,
    /// `errc::access_denied` for wrong credentials.
    void wait_until_ready(std::chrono::milliseconds limit);
    bool wait_until_ready(std::chrono::milliseconds limit, std::error_code& error);

    /// The address in use, without credentials: fit for logs.
    std::string address() const;

    /// What the layouts of this library stand on; its type is not public.
    std::shared_ptr<redis::ClientCore> const& core() const noexcept { return core_; }

private:
    std::shared_ptr<redis::ClientCore> core_;
};

}  // namespace rollcall

#pragma GCC visibility pop

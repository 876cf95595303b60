#pragma once

#include <mutex>
#include <optional>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/url.hpp"

namespace rollcall::redis {

/// Whether a session has a connection, and why not, for threads that wait for what only Redis
/// knows.
///
/// Thread safety: `now` from any thread; the rest on the I/O thread, construction aside.
/// Lifetime: `session` must outlive it.
class Outage final : public ConnectionListener {
public:
    struct State {
        Deadline since;  ///< The end of the last connection, or the start.
        /// Attempts to connect that have ended since; the end of the last connection is one.
        unsigned attempts = 0;
        Failure why;  ///< `errc::not_connected` or, where the log-in is refused, what that was.
    };

    Outage(Session const& session, Url const& url);

    /// None while there is a connection.
    std::optional<State> now() const;

    void connected() override;
    void disconnected() override;
    void attempt_failed() override;

private:
    Failure why() const;

    Session const& session_;
    std::string const url_;
    mutable std::mutex mutex_;  // Guards what is below.
    std::optional<State> state_;
};

}  // namespace rollcall::redis

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/push_handler.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

namespace rollcall::redis {

struct SubscriberOptions {
    std::size_t max_topics = 100'000;
    std::size_t max_keys = 1'000;
    std::size_t max_pings = 1'000;  ///< Waiting at once.
    /// A longer payload, or name of a channel, is told as unreadable.
    std::size_t max_payload = std::size_t{1} << 20;
    std::size_t topics_in_command = 500;
    /// What Redis refused is asked for again after so long, at first; each time twice that passes,
    /// up to `longest_retry_pause`. A refusal that passes by itself (BUSY) does not lengthen it.
    std::chrono::milliseconds retry_pause{1'000};
    std::chrono::milliseconds longest_retry_pause{60'000};
    /// A connection on which a command goes unanswered for so long is given up, whatever else
    /// arrives.
    std::chrono::milliseconds answer_limit{5'000};
};

/// The second connection to one Redis, for what Redis says unasked: messages, and that a key has
/// changed. Made again for ever; everything that is wanted is asked for again on each connection.
///
/// Pub/sub loses what is published while nobody listens, and tells nobody. So every `confirmed` and
/// every `invalidated` means: read afresh.
///
/// Thread safety: the I/O thread only.
/// Lifetime: handlers must be detached, or the subscriber stopped, before they end. After `stop`,
/// the `io_context` must have run out of work before the subscriber is destroyed.
class Subscriber {
public:
    Subscriber(asio::io_context& io, SessionOptions session, SubscriberOptions options, Log log);
    ~Subscriber();

    void start();  ///< Begins to connect; again: nothing.
    /// No handler is called any more; what waits fails with `errc::closed`. The socket is closed
    /// when the subscriber is destroyed.
    void stop();

    void attach(PushHandler& handler);
    /// Drops all that `handler` wanted; it is not called any more.
    void detach(PushHandler& handler);

    /// `handler` is attached, and told when Redis has confirmed. Again for the same: nothing.
    /// Errors: `errc::overloaded`, when that is a topic too many, or its name too long.
    Result<void> subscribe(PushHandler& handler, Topic const& topic);
    void unsubscribe(PushHandler& handler, Topic const& topic);

    /// `handler` is attached, and told when `key` was changed or created or removed. What is
    /// subscribed to after this is confirmed only when Redis tracks the key, or has refused to:
    /// then changes go unnoticed, with a warning.
    /// Cost: a round trip on each connection and after each change. The key is asked for by EXISTS,
    /// for its value may be of any size.
    /// Errors: `errc::overloaded`, when that is a key too many.
    Result<void> track(PushHandler& handler, std::string const& key);

    /// Asks Redis for a sign of life on this very connection. When it succeeds, all that Redis said
    /// before has reached the handlers.
    /// Errors: at once `errc::not_connected`, `errc::overloaded`; `errc::timeout`;
    /// `errc::cancelled`; `errc::closed`.
    Task<Result<void>> ping(Deadline deadline);

    /// Grows with each confirmation, each invalidation and each loss of the connection, as soon as
    /// it is read: if it is the same before some reads and after a `ping` behind them, nothing that
    /// was published in between was missed.
    std::uint64_t disturbances() const noexcept;
    /// What Redis pushed that means nothing to us.
    std::uint64_t unknown_pushes() const noexcept;

    bool connected() const noexcept;
    /// As of a session.
    std::string const& last_error() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::redis

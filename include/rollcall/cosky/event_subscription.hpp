#pragma once

#include <functional>

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// What keeps a listener told of events. Destroying it ends that.
///
/// Thread safety: distinct subscriptions, safe; one subscription, one thread at a time, and its
/// listener.
/// Lifetime: keeps what it needs of the client alive. In a forked child nothing happens.
class [[nodiscard]] EventSubscription {
public:
    EventSubscription() noexcept;  ///< Of nothing.
    /// Calls `stop` once, when it is stopped or ends; for containers of your own. It must not
    /// throw.
    explicit EventSubscription(std::function<void()> stop) noexcept;
    ~EventSubscription();
    EventSubscription(EventSubscription&& other) noexcept;
    EventSubscription& operator=(EventSubscription&& other) noexcept;

    /// Returns when the listener does not run and never will again; inside a callback of the same
    /// client, the log callback included, at once. Idempotent. Cost: no round trip.
    void stop() noexcept;

private:
    std::function<void()> stop_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "redis/callback_queue.hpp"
#include "registry/live/follower.hpp"

#include "rollcall/streaming/service_change_listener.hpp"

namespace rollcall::streaming {

/// Tells one listener what becomes of one service: each message once what it names was read, and
/// what changed without a message.
///
/// Thread safety: as of `Follower`; everything else from any thread.
/// Lifetime: stopped by its owner. In a forked child `stop` does nothing.
class ChangeTeller final : public live::Follower {
public:
    ChangeTeller(std::string service, std::shared_ptr<ServiceChangeListener> listener, Log log,
                 std::shared_ptr<redis::CallbackThread> thread);

    void begin(Snapshot const& now) override;
    void settle(std::span<live::HeardMessage const> messages, std::span<FeedChange const> changes,
                Snapshot const& now) override;

    /// Returns at the deadline or when it was stopped, too.
    void wait_until_begun(Deadline deadline) const;
    bool stopped() const noexcept { return *stopped_; }
    /// As of `redis::CallbackQueue`.
    void stop() noexcept;
    /// The same without waiting for a call that runs.
    void stop_soon() noexcept;

private:
    using Description = std::shared_ptr<ServiceInstance const>;

    struct Item {
        bool everything = false;  // All that is there, and what has left since the item before.
        ServiceChangeAction action = ServiceChangeAction::current;
        Description instance = {};  // May be a part of the snapshot.
        Snapshot now = {};
    };
    class Unexplained;
    class Telling;

    void tell_message(live::HeardMessage const& message, Unexplained& changes, Snapshot const& now);
    void tell(ServiceChangeAction action, Description instance, Snapshot const& now);

    void note_stop() noexcept;

    std::shared_ptr<std::atomic<bool>> const stopped_;
    std::shared_ptr<redis::CallbackThread> const thread_;
    std::shared_ptr<redis::CallbackQueue<Item>> const queue_;

    mutable std::mutex mutex_;  // Guards what is below.
    mutable std::condition_variable changed_;
    bool begun_ = false;
};

}  // namespace rollcall::streaming

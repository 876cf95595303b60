#pragma once

#include <functional>
#include <memory>
#include <span>

#include "redis/callback_queue.hpp"
#include "registry/live/service_feed.hpp"

#include "rollcall/change.hpp"
#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// One who wants to be told of the changes of a service. When he falls behind, all that he has not
/// been told becomes one `resync`.
///
/// Thread safety: all members.
class Listener {
public:
    using Callback = std::function<void(Change const&)>;

    Listener(Callback callback, std::shared_ptr<redis::CallbackThread> thread);

    /// `now` is how the service is after all of them.
    void tell(std::span<FeedChange const> changes, Snapshot const& now);

    /// As of `redis::CallbackQueue`.
    void stop() noexcept { queue_->stop(); }

private:
    struct Item {
        FeedChange change;
        Snapshot now;
    };

    std::shared_ptr<redis::CallbackQueue<Item>> const queue_;
};

}  // namespace rollcall::live

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "redis/callback_queue.hpp"
#include "registry/live/follower.hpp"

#include "rollcall/cosky/instance_changed_event.hpp"

namespace rollcall::cosky {

/// Tells of each event of one service once what it is about was read.
///
/// Thread safety: as of `Follower` and `redis::CallbackQueue`.
class EventHook final : public live::Follower {
public:
    using Queue = redis::CallbackQueue<InstanceChangedEvent>;

    /// One `queue` may be that of many services. Who falls behind is told one `resync`.
    static std::shared_ptr<Queue> make_queue(std::function<void(InstanceChangedEvent const&)> hook,
                                             std::shared_ptr<redis::CallbackThread> thread);

    EventHook(std::shared_ptr<Queue> queue, std::string ns, std::string service);

    void begin(Snapshot const&) override {}
    void settle(std::span<live::HeardMessage const> messages, std::span<FeedChange const> changes,
                Snapshot const& now) override;

private:
    std::shared_ptr<Queue> const queue_;
    std::string const ns_;
    std::string const service_;
};

}  // namespace rollcall::cosky

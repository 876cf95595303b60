#pragma once

#include <memory>
#include <span>
#include <string>

#include "registry/live/service_feed.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// A message, after what it is about was read.
struct HeardMessage {
    std::string id = {};
    std::shared_ptr<void const> event = {};  ///< Of its `LivePort::Message`. Not null.
};

/// One who is told of every read of a service, with the messages that it answers: what a layout's
/// own listeners stand on. Called on the I/O thread; must not wait.
class Follower {
public:
    virtual ~Follower() = default;

    /// Once, first, when the service is loaded.
    virtual void begin(Snapshot const& now) = 0;

    /// The messages in their order, what was changed by reading what they are about and maybe
    /// more, and how the service is after that.
    virtual void settle(std::span<HeardMessage const> messages, std::span<FeedChange const> changes,
                        Snapshot const& now) = 0;
};

}  // namespace rollcall::live

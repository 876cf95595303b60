#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace rollcall::redis {

/// A channel by its name, or all channels whose names match a pattern.
struct Topic {
    std::string name = {};
    bool is_pattern = false;

    friend bool operator==(Topic const&, Topic const&) = default;
};

/// What was published; valid during the call that hands it over. Untrusted.
struct Message {
    Topic const& topic;  ///< What it came by.
    std::string_view channel;
    std::string_view payload;
};

/// What Redis pushes to those that asked for it: see `Subscriber`.
///
/// All members are called on the I/O thread, in the order in which Redis said it, and may call the
/// subscriber: `subscribe`, `unsubscribe`, `detach`, `stop`. Whatever throws costs the connection.
class PushHandler {
public:
    /// From here on what is published to `topic` arrives. Whatever was published before is lost:
    /// read afresh. Comes for each subscription, also of one that Redis has already, and again
    /// after every reconnect.
    virtual void confirmed(Topic const& topic) = 0;
    /// Only of confirmed topics.
    virtual void message(Message const& message) = 0;
    /// Something was published that is too large, or no text. `channel` is empty when it is the
    /// channel's name that is too large.
    virtual void unreadable(Topic const& topic, std::string_view channel) = 0;
    /// Redis does not let this user subscribe. It is asked again from time to time.
    virtual void refused(Topic const& topic, Failure const& why) = 0;
    /// `key` is tracked on this connection from here on. For those that track without a topic: told
    /// once on each connection, and not to who asked for a key that was tracked already.
    virtual void tracked(std::string_view /*key*/) {}
    /// A tracked key was changed, or may have been, before the moment at which Redis began to track
    /// it anew. A hint: it may be the key of that name in another database.
    virtual void invalidated(std::string_view key) = 0;
    /// The connection ended: nothing arrives until the next confirmation.
    virtual void lost(std::string_view why) = 0;

protected:
    ~PushHandler() = default;
};

}  // namespace rollcall::redis

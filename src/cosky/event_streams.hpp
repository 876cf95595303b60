#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cosky/event_stream.hpp"

#include "rollcall/cosky/event_subscription.hpp"

namespace rollcall::cosky {

/// The subscriptions of one container.
///
/// Thread safety: all members. Fork: in a child `add` fails and `close` does nothing.
class EventStreams : public std::enable_shared_from_this<EventStreams> {
public:
    explicit EventStreams(std::shared_ptr<redis::ClientCore> core) : core_(std::move(core)) {}

    /// Starts it. Errors: throws `Error`.
    EventSubscription add(std::shared_ptr<EventStream> stream);
    void close() noexcept;

private:
    void remove(EventStream& stream);
    static void end(std::shared_ptr<EventStreams> streams, std::shared_ptr<EventStream> stream);

    std::shared_ptr<redis::ClientCore> const core_;
    std::mutex mutex_;  // Guards what is below.
    bool closed_ = false;
    std::unordered_map<EventStream*, std::weak_ptr<EventStream>> running_;
};

}  // namespace rollcall::cosky

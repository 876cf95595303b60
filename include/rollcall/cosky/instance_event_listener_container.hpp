#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "rollcall/client.hpp"
#include "rollcall/cosky/event_subscription.hpp"
#include "rollcall/cosky/instance_changed_event.hpp"
#include "rollcall/cosky/service_topology.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Told of events, one after the other.
using InstanceEventListener = std::function<void(InstanceChangedEvent const&)>;

/// Tells listeners what happens to instances. Source: spec 7.
///
/// The first event is a `resync`, when nothing can be missed any more; so is the first one after
/// each interruption, and what a listener gets that falls too far behind, instead of all that it
/// was not told.
///
/// Errors: `std::invalid_argument` for a namespace or service that is empty, blank or longer than
/// 1,024 bytes; `rollcall::Error`.
class InstanceEventListenerContainer {
public:
    virtual ~InstanceEventListenerContainer() = default;

    /// Of the instances of one service, until the subscription ends.
    virtual EventSubscription receive(std::string_view ns, std::string_view service,
                                      InstanceEventListener listener) = 0;
    /// Of all instances of the namespace.
    virtual EventSubscription receive(std::string_view ns, InstanceEventListener listener) = 0;

    /// Ends all subscriptions; to receive is `errc::closed` from now on. Idempotent.
    virtual void close() noexcept = 0;
};

/// Listens on the client's second connection, which all subscriptions share, and which is made
/// again for ever: to receive works while Redis cannot be reached.
///
/// Listeners run on the client's callback thread, in order; one that takes long holds up the
/// others, and after 10,000 untold events gets a `resync`. What one throws is logged. It may call
/// anything, also stop its own subscription.
///
/// Names may hold any characters. A message that says nothing, with an id that is none or another
/// payload, is counted, logged, and ends nothing.
///
/// Cost: PSUBSCRIBE once for each namespace and service; nothing for an event. A user who may not
/// subscribe to a single service is sent the events of all of the namespace instead.
/// Errors: `errc::overloaded` above 100,000 subscriptions of a client; `errc::closed` in a forked
/// child and on the I/O thread.
/// Thread safety: all members, from any thread.
/// Lifetime: keeps what it needs of the client alive. Its end does not end its subscriptions.
class RedisInstanceEventListenerContainer final : public InstanceEventListenerContainer {
public:
    /// Records that this process uses the services that it receives events of, as a
    /// `RedisServiceTopology` of its own.
    explicit RedisInstanceEventListenerContainer(Client const& client);
    /// The same, with a topology that knows which service this process is; null: nothing is
    /// recorded. Used on the callback thread, when Redis has confirmed a subscription; a failure is
    /// logged.
    RedisInstanceEventListenerContainer(Client const& client,
                                        std::shared_ptr<ServiceTopology> topology);
    ~RedisInstanceEventListenerContainer() override;

    EventSubscription receive(std::string_view ns, std::string_view service,
                              InstanceEventListener listener) override;
    EventSubscription receive(std::string_view ns, InstanceEventListener listener) override;
    void close() noexcept override;

    /// Messages that said nothing, so far.
    std::uint64_t skipped() const noexcept;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

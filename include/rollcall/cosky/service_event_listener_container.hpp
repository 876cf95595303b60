#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rollcall/client.hpp"
#include "rollcall/cosky/event_subscription.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// What happened to the list of services of a namespace. Source: spec 7.
enum class ServiceEvent {
    changed,  ///< A service was added or removed; which one is not told.
    /// Ours: changes may have been missed, look at what is there now.
    resync,
};

struct ServiceChangedEvent {
    ServiceEvent event = ServiceEvent::resync;
    std::string ns = {};

    friend bool operator==(ServiceChangedEvent const&, ServiceChangedEvent const&) = default;
};

/// Told of events, one after the other.
using ServiceEventListener = std::function<void(ServiceChangedEvent const&)>;

/// Tells listeners that the list of services of a namespace changed. All else is as of an
/// `InstanceEventListenerContainer`.
class ServiceEventListenerContainer {
public:
    virtual ~ServiceEventListenerContainer() = default;

    virtual EventSubscription receive(std::string_view ns, ServiceEventListener listener) = 0;
    virtual void close() noexcept = 0;
};

/// As a `RedisInstanceEventListenerContainer`; what a message says does not matter.
///
/// Cost: SUBSCRIBE once for each namespace; nothing for an event.
class RedisServiceEventListenerContainer final : public ServiceEventListenerContainer {
public:
    explicit RedisServiceEventListenerContainer(Client const& client);
    ~RedisServiceEventListenerContainer() override;

    EventSubscription receive(std::string_view ns, ServiceEventListener listener) override;
    void close() noexcept override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

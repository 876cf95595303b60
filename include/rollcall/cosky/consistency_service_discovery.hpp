#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/cosky/instance_changed_event.hpp"
#include "rollcall/cosky/service_discovery.hpp"
#include "rollcall/cosky/service_topology.hpp"
#include "rollcall/service.hpp"
#include "rollcall/snapshot.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

struct ConsistencyOptions {
    /// How long a service that nobody asks for is still watched.
    std::chrono::milliseconds unused_for{300'000};
    /// Of a namespace; what is asked for beyond that is read from Redis each time. Of 1,000
    /// namespaces, the one that was not asked for the longest makes room for the next.
    std::size_t max_services = 10'000;
    /// What a call gives while Redis cannot be reached.
    ServiceOptions reads = {};
    /// What an instance that Redis may have lost is given to come back; see `RegistryProperties`.
    std::chrono::milliseconds instance_ttl{60'000};
    /// Called after each event of a service that is watched, once what it is about was read, so
    /// that `instances` shows it: in order for each service, on the client's callback thread.
    /// `resync`: so many events were not told that it is to look at everything. What it throws is
    /// logged. Not called any more once the discovery is destroyed. Source: spec 8.2.
    std::function<void(InstanceChangedEvent const&)> hook = {};
};

/// The discovery of the design that answers from memory, and keeps what it knows up to date by
/// events. Source: spec 8.2.
///
/// `services` and `instances` begin to watch what is first asked for: that call waits for the first
/// load, later ones ask Redis nothing. Changes are seen within moments while Redis can be reached.
/// `instance` and `instance_ttl` answer from memory what is watched and there; for anything else
/// they ask, and begin to watch nothing. A lease is known as it was last read: renewals since then
/// have moved its end on. What has expired is not given, by Redis' word and clock; what Redis may
/// have lost is, as `suspect`, for a lease at most.
///
/// Cost: a short mutex and a copy of what is returned, `snapshot` aside. Thread safety: all
/// members, from any thread. Lifetime: keeps what it needs of the client alive. Fork: in a child
/// all fails with `errc::closed`.
class ConsistencyRedisServiceDiscovery final : public ServiceDiscovery {
public:
    /// Records that this process uses the services that it watches, as a `RedisServiceTopology` of
    /// its own. Errors: `std::invalid_argument` for bad options.
    explicit ConsistencyRedisServiceDiscovery(Client const& client,
                                              ConsistencyOptions options = {});
    /// The same, with a topology that knows which service this process is; null: nothing is
    /// recorded. Used on the callback thread; a failure is logged.
    ConsistencyRedisServiceDiscovery(Client const& client,
                                     std::shared_ptr<ServiceTopology> topology,
                                     ConsistencyOptions options = {});
    ~ConsistencyRedisServiceDiscovery() override;
    ConsistencyRedisServiceDiscovery(ConsistencyRedisServiceDiscovery const&) = delete;
    ConsistencyRedisServiceDiscovery& operator=(ConsistencyRedisServiceDiscovery const&) = delete;

    /// The instances of a service without copying them: what `instances` would give, and balancers
    /// choose from. Ours.
    ///
    /// Cost: once the service is loaded a few look-ups in memory, no lock and no allocation; as
    /// `instances` where `ServiceOptions::OnFailure::error` is chosen. Fork: a child reads what was
    /// known at the fork.
    Snapshot snapshot(std::string_view ns, std::string_view service);
    Snapshot snapshot(std::string_view ns, std::string_view service, std::error_code& error);

    std::vector<std::string> services(std::string_view ns) override;
    std::vector<std::string> services(std::string_view ns, std::error_code& error) override;
    DiscoveredInstances instances(std::string_view ns, std::string_view service) override;
    DiscoveredInstances instances(std::string_view ns, std::string_view service,
                                  std::error_code& error) override;
    std::optional<DiscoveredInstance> instance(std::string_view ns, std::string_view service,
                                               std::string_view instance_id) override;
    std::optional<DiscoveredInstance> instance(std::string_view ns, std::string_view service,
                                               std::string_view instance_id,
                                               std::error_code& error) override;
    std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                              std::string_view instance_id) override;
    std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                              std::string_view instance_id, std::error_code& error) override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

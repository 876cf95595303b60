#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/announcement.hpp"
#include "rollcall/client.hpp"
#include "rollcall/layout.hpp"
#include "rollcall/service.hpp"

#pragma GCC visibility push(default)

namespace rollcall {

struct RegistryOptions {
    /// Between two heartbeats of what is announced; less up to a tenth. Zero: ten seconds, or a
    /// third of the lease if that is less.
    std::chrono::milliseconds heartbeat{0};
    /// How long a service that nobody holds a handle of is still watched: who comes back within
    /// that time finds it loaded.
    std::chrono::milliseconds unused_for{300'000};
};

/// What a registry sees, and has seen since it was made.
struct RegistryStats {
    std::size_t services = 0;   ///< That are watched now.
    std::size_t instances = 0;  ///< Of these services.
    std::size_t suspects = 0;   ///< Instances that Redis may have lost.
    std::uint64_t messages = 0;
    std::uint64_t unreadable = 0;  ///< Messages that nobody could read.
    std::uint64_t changes = 0;
    std::uint64_t resyncs = 0;  ///< Reads of a whole service, the first ones included.
    std::uint64_t failed_reads = 0;
};

/// One namespace of one layout: register, find, watch.
///
/// Thread safety: all members, from any thread. Copies are the same registry.
/// Lifetime: keeps what it needs of the client alive; handles outlive it.
class Registry {
public:
    /// Never waits, never fails for an absent Redis.
    ///
    /// Errors: `std::invalid_argument` for an option.
    Registry(Client const& client, Layout const& layout, RegistryOptions options = {});

    /// Registers `instance` and keeps it registered until the result is released or destroyed.
    ///
    /// Cost: one script call, then a share of a batched heartbeat each period.
    /// Errors: none for a Redis that is away: it is registered when Redis comes, and `registered()`
    /// tells. `std::invalid_argument` names the field, the value and the rule; also for an instance
    /// that this registry announces already. `errc::closed` in a forked child.
    Announcement announce(ServiceInstance const& instance, AnnounceOptions options = {}) const;

    /// A live view of `service_name`, which need not exist yet. Handles of one name share all but
    /// their options.
    ///
    /// Errors: `std::invalid_argument` for a name that the layout cannot store; `errc::closed` in a
    /// forked child.
    Service service(std::string const& service_name, ServiceOptions options = {}) const;

    /// The instances of `service_name`, for callers that have a name and no handle, as they were
    /// last known: a service that is not watched yet is from now on, until nobody has asked for it
    /// for `RegistryOptions::unused_for`.
    ///
    /// Cost: a hash and a look-up more than `Service::instances`, and as that no lock and no
    /// allocation, once the service is loaded; memory for each name that is asked for.
    /// Errors: of the first load, as `Service::instances`; as `service`.
    Snapshot instances(std::string_view service_name) const;
    Snapshot instances(std::string_view service_name, std::error_code& error) const;

    /// Calls `listener` for every change of every service: as `Service::on_change`, in order for
    /// each service. All services of the namespace are watched from the first such call on, with
    /// one subscription, for as long as this registry or a handle of it is there.
    ///
    /// Cost: memory for all instances; each message of the namespace is received.
    /// Errors: `errc::closed` in a forked child.
    Watch on_change(std::function<void(std::string const& service, Change const&)> listener) const;

    /// The names of all services that have instances, sorted.
    std::vector<std::string> services() const;
    std::vector<std::string> services(std::error_code& error) const;

    RegistryStats stats() const;

private:
    struct Impl;
    std::shared_ptr<Impl const> impl_;
};

}  // namespace rollcall

#pragma GCC visibility pop

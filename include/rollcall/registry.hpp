#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/announcement.hpp"
#include "rollcall/client.hpp"
#include "rollcall/error.hpp"
#include "rollcall/layout.hpp"
#include "rollcall/renewal.hpp"
#include "rollcall/service.hpp"

#pragma GCC visibility push(default)

namespace rollcall {

/// Where a registry keeps on disk what it watches, for a start while Redis cannot be reached.
///
/// What is written: of each service that is watched and was read from Redis its instances, with
/// descriptions and leases, in a file of its own: once it has changed, else at least every ten
/// minutes, and when the registry ends. A file is complete or not there, checked by a SHA-256, and
/// readable for this user alone. All this happens on a thread of its own: nobody waits for the
/// disk. What fails (no directory, no right, no space) is a warning, and tried again.
///
/// What is read: the file of a service that is asked for and cannot be loaded, because Redis cannot
/// be reached or does not answer: after two failed attempts to connect, at the latest after half
/// the client's request timeout. Its instances are suspects, `stale()` is true, and `age()` counts
/// from when Redis last confirmed them. The first answer of Redis takes the place of all of it, and
/// listeners are told what that changed. Who chose `OnFailure::error` gets the error all the same.
/// A file that is damaged, too old, of another version, server, layout, namespace or user, or that
/// others may write to, is ignored, with a warning.
struct DiskSnapshotOptions {
    /// A directory that exists, best one of this user alone; registries and processes may share
    /// it. Empty: nothing is written, and nothing read.
    std::filesystem::path directory = {};
    /// A service that changes is written that often at most. At least 10 ms.
    std::chrono::milliseconds write_every{5'000};
    /// What Redis confirmed longer ago, by this machine's clock, is ignored. What it confirmed in
    /// the future counts as confirmed now, with a warning.
    std::chrono::milliseconds max_age{86'400'000};
    /// Of all files that this registry writes; what does not fit is not written, with a warning. At
    /// most 4 GiB.
    std::size_t max_bytes = std::size_t{256} << 20;
};

struct RegistryOptions {
    /// Between two heartbeats of what is announced or renewed; less up to a tenth. Zero: ten
    /// seconds, or a third of the lease if that is less.
    std::chrono::milliseconds heartbeat{0};
    /// How long a service that nobody holds a handle of is still watched: who comes back within
    /// that time finds it loaded.
    std::chrono::milliseconds unused_for{300'000};
    DiskSnapshotOptions disk_snapshot = {};
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
    /// that this registry announces or renews already. `errc::closed` in a forked child.
    Announcement announce(ServiceInstance const& instance, AnnounceOptions options = {}) const;

    /// Renews an instance that somebody else registers, at once and then with every round of
    /// heartbeats, until the result is destroyed. `on_event` as of `AnnounceOptions`.
    ///
    /// Cost: a share of a batched heartbeat each period; while it is not there a round trip more.
    /// Errors: none for a Redis that is away, or for an instance that is not there. As of
    /// `announce` for the names, and for an instance that this registry announces or renews
    /// already.
    Renewal renew(std::string const& service_name, std::string const& instance_id,
                  std::function<void(AnnouncementEvent)> on_event = {}) const;

    /// A live view of `service_name`, which need not exist yet. Handles of one name share all but
    /// their options.
    ///
    /// Errors: `std::invalid_argument` for options that it cannot keep to, and for a name under
    /// which nobody can have stored anything: an empty or blank one, or one that is too long for a
    /// key. Names that only `announce` refuses may be watched: other programs may store them.
    /// `errc::closed` in a forked child.
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
    /// one subscription, for as long as this registry or a handle of it is there; one that nobody
    /// is in and that Redis lists no more is let go as one that nobody holds, and found again by
    /// its next message.
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

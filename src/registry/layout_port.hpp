#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/condition.hpp"
#include "registry/live/live_port.hpp"

#include "rollcall/instance.hpp"

namespace rollcall {

/// What a layout can store and evaluate.
struct Capabilities {
    bool enabled_flag = false;  ///< `set_enabled` works.
    bool health_flag = false;   ///< `set_healthy` works.
    bool metrics = false;       ///< Queries may have conditions on metrics.
};

/// What a write found and did.
struct Written {
    bool existed = false;   ///< The instance was there before.
    bool announced = true;  ///< Subscribers were told; false when the user may not publish.
    /// The connection broke before the answer, and the request was sent again: `existed` may tell
    /// of what this very call has done the first time.
    bool repeated = false;
};

/// An instance as a read found it.
struct Found {
    ServiceInstance instance = {};
    InstanceState state = {};
    /// What is left of its lease by Redis' clock at the read, not below zero. For layouts and
    /// instances whose readers apply no lease: none.
    std::optional<std::chrono::milliseconds> lease = {};
};

struct InstanceId {
    std::string service = {};
    std::string id = {};
};

enum class Liveness {
    alive,
    gone,
    failed,
    refused,     ///< Failed, and will again unless somebody changes something in Redis.
    persistent,  ///< There, with no lease to renew; only of layouts whose readers see that.
};

struct ServiceSummary {
    std::string service = {};
    std::size_t instances = 0;  ///< Within their lease.
};

enum class ListScope {
    discoverable,  ///< What readers of the layout find: within its lease.
    everything,    ///< Also what is stored but silent, and not yet swept.
};

struct Query {
    std::string service = {};
    ListScope scope = ListScope::discoverable;
    std::vector<Condition> metadata = {};
    std::vector<Condition> metrics = {};
};

struct SweepReport {
    struct Service {
        std::string service = {};
        std::vector<std::string> removed = {};  ///< Ids.
        std::optional<Failure> failure = {};
    };
    std::vector<Service> services = {};  ///< Those where something was removed or failed.
    bool leader = true;                  ///< False: another process sweeps; nothing was done.
};

/// One thing that `doctor` found. `repair` says what `--fix` does about it; empty: nothing.
struct Finding {
    enum class Severity { ok, note, warning, problem } severity = Severity::ok;
    std::string topic = {};
    std::string text = {};
    std::string repair = {};
    bool repaired = false;
};

inline Finding make_finding(Finding::Severity severity, std::string topic, std::string text) {
    return Finding{severity, std::move(topic), std::move(text)};
}

/// What both layouts can do, as coroutines on the client's I/O thread: what the program stands on.
///
/// Every call ends by `deadline`. Names and instances are checked before anything is sent:
/// `std::invalid_argument` leaves the coroutine for bad ones. Parameters by reference must outlive
/// the call.
class LayoutPort {
public:
    virtual ~LayoutPort() = default;

    virtual Capabilities capabilities() const noexcept = 0;

    /// Atomic and idempotent. The instance's id may be empty: see `validated`.
    virtual Task<Result<Written>> register_instance(ServiceInstance const& instance,
                                                    Deadline deadline) = 0;
    /// The instance as `register_instance` stores it: names as written, id and scheme filled in.
    virtual ServiceInstance validated(ServiceInstance const& instance) const = 0;
    /// The names as they are stored.
    virtual InstanceId validated(InstanceId const& id) const = 0;
    virtual Task<Result<Written>> deregister_instance(InstanceId const& id, Deadline deadline) = 0;

    /// One result for each id, in order; a failure of one id, bad names included, never touches
    /// another, and what failed is in the log. An error when nothing was learnt of any. At most
    /// `max_batch` ids.
    static constexpr std::size_t max_batch = 100'000;
    virtual Task<Result<std::vector<Liveness>>> heartbeat(std::span<InstanceId const> ids,
                                                          Deadline deadline) = 0;

    virtual Task<Result<std::vector<ServiceSummary>>> services(Deadline deadline) = 0;
    virtual Task<Result<std::vector<Found>>> instances(Query const& query, Deadline deadline) = 0;
    virtual Task<Result<std::optional<Found>>> instance(InstanceId const& id,
                                                        Deadline deadline) = 0;

    /// How many entries reads left out so far, because they make no instance or no list of some.
    virtual std::size_t left_out() const noexcept = 0;

    /// Each guarded by the instance's existence: `existed` false means that nothing was written.
    /// The lease is not touched. `errc::not_supported` where the layout cannot store it.
    virtual Task<Result<Written>> set_enabled(InstanceId const& id, bool on, Deadline deadline) = 0;
    virtual Task<Result<Written>> set_healthy(InstanceId const& id, bool on, Deadline deadline) = 0;
    virtual Task<Result<Written>> set_weight(InstanceId const& id, int weight,
                                             Deadline deadline) = 0;
    virtual Task<Result<Written>> set_metadata(InstanceId const& id, Metadata const& metadata,
                                               Deadline deadline) = 0;
    virtual Task<Result<Written>> merge_metadata(InstanceId const& id, Metadata const& metadata,
                                                 Deadline deadline) = 0;

    /// Removes and announces what expired, whoever else does so.
    virtual Task<Result<SweepReport>> sweep(Deadline deadline) = 0;
    /// The same if this process holds, or now gets, the prefix's sweeping lease for `hold`.
    virtual Task<Result<SweepReport>> sweep_as_leader(std::chrono::milliseconds hold,
                                                      Deadline deadline) = 0;
    /// Gives up the sweeping lease, if this process holds it.
    virtual Task<Result<void>> yield_sweeping(Deadline deadline) = 0;

    /// For those who watch. Valid while this port is.
    virtual LivePort& live() noexcept = 0;

    /// What is wrong with the stored data of this layout, repaired where that is safe and `fix`.
    virtual Task<Result<std::vector<Finding>>> examine(bool fix, Deadline deadline) = 0;
};

}  // namespace rollcall

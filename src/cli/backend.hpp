#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/layout_port.hpp"

namespace rollcall::announce {
struct DrainMark;
}
namespace rollcall::redis {
class ClientCore;
}

namespace rollcall::cli {

/// The registry as commands that wait use it: each call ends within the `--timeout`, or
/// by the deadline that it is given.
///
/// Errors: `Error` for what failed, `std::invalid_argument` for bad names and instances.
class Backend {
public:
    Backend(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port);

    std::shared_ptr<redis::ClientCore> const& core() const noexcept { return core_; }
    std::shared_ptr<LayoutPort> const& port() const noexcept { return port_; }

    /// Whether there is a connection at this moment; does not wait for one.
    bool connected() const;

    Written register_instance(ServiceInstance const& instance, Deadline deadline) const;
    Written deregister_instance(InstanceId const& id) const;
    std::vector<Liveness> heartbeat(std::vector<InstanceId> const& ids) const;

    std::size_t left_out() const;  ///< By all reads so far: see `LayoutPort::left_out`.
    std::vector<ServiceSummary> services() const;            ///< Sorted by name.
    std::vector<Found> instances(Query const& query) const;  ///< Sorted by id.
    std::vector<Found> instances(Query const& query, Deadline deadline) const;

    Written set_enabled(InstanceId const& id, bool on) const;
    Written set_weight(InstanceId const& id, int weight) const;
    Written set_metadata(InstanceId const& id, Metadata const& metadata) const;
    Written merge_metadata(InstanceId const& id, Metadata const& metadata) const;

    /// What asks the owner of an instance to take no traffic, or asked it for that lately.
    std::optional<announce::DrainMark> drain_mark(InstanceId const& id) const;
    /// Asks for it for `time`; zero: for no longer.
    void mark_drained(InstanceId const& id, std::chrono::milliseconds time) const;
    /// Leaves nothing of it.
    void unmark_drained(InstanceId const& id) const;

    SweepReport sweep() const;
    /// Lets another process keep house at once; a failure only means that it waits. Takes half a
    /// second at most.
    void yield_sweeping() const;
    std::vector<Finding> examine(bool fix) const;

private:
    std::shared_ptr<redis::ClientCore> core_;
    std::shared_ptr<LayoutPort> port_;
};

}  // namespace rollcall::cli

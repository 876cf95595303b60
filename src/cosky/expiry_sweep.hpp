#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/instance_reader.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"
#include "registry/sweep_lease.hpp"

namespace rollcall::cosky {

/// Takes what has expired off the lists of a namespace and announces it, as the design leaves to
/// whoever reads: a service that nobody reads is swept too.
///
/// The script that takes an instance off announces it in the same step, for one caller only. A
/// sweep for which the time does not suffice is gone on with by the next.
/// Thread safety: the I/O thread only, construction aside.
class ExpirySweep {
public:
    ExpirySweep(DiscoveryRedisScripts const& scripts, InstanceReader& reader, std::string ns);

    /// A failure of one service is told in its part of the report and does not stop the others. One
    /// that was not reached in time has failed, too.
    Task<Result<SweepReport>> run(Deadline deadline);
    /// The same if this object holds, or now gets, the lease of the namespace.
    Task<Result<SweepReport>> run_as_leader(std::chrono::milliseconds hold, Deadline deadline);
    Task<Result<void>> yield(Deadline deadline) { return lease_.yield(deadline); }

private:
    Task<std::vector<SweepReport::Service>> sweep(std::span<std::string const> services,
                                                  Deadline deadline);
    void resume_behind(std::vector<std::string> const& services, std::string_view service);

    DiscoveryRedisScripts const& scripts_;
    InstanceReader& reader_;
    std::string ns_;
    SweepLease lease_;
    std::string first_;  // Where the next sweep begins.
};

}  // namespace rollcall::cosky

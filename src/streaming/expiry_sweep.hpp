#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"
#include "registry/sweep_lease.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::streaming {

/// Removes and announces what expired in all services of a prefix.
///
/// The script that removes an instance announces it in the same step, for one caller only: each
/// removal is announced once, however many sweep at the same time and whatever becomes of them.
/// Thread safety: the I/O thread only, construction aside.
class ExpirySweep {
public:
    ExpirySweep(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader);

    /// A failure of one service is told in its part of the report and does not stop the others.
    Task<Result<SweepReport>> run(Milliseconds timeout, Deadline deadline);

    /// The same for these services.
    Task<SweepReport> run_for(std::vector<std::string> const& services, Milliseconds timeout,
                              Deadline deadline, GivenTime now = {});

    /// The same as `run` if this object holds, or now gets, the lease of the prefix.
    Task<Result<SweepReport>> run_as_leader(Milliseconds timeout, Milliseconds hold,
                                            Deadline deadline);

    /// Gives the lease up, so that another process need not wait for its end.
    Task<Result<void>> yield(Deadline deadline) { return lease_.yield(deadline); }

private:
    RegistryLuaScriptExecutor const& scripts_;
    InstanceReader& reader_;
    SweepLease lease_;
};

}  // namespace rollcall::streaming

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/expiry_sweep.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::cosky {

/// Looks at what this user may do, and compares the lists and Hashes of a namespace, where
/// instances should have `lease`. With `fix` it sweeps, lists services that have instances but are
/// not listed, and removes counts of services that are not there.
///
/// Cost: SCAN over the whole database, then each key of the namespace once; ends by `deadline` and
/// says so when it did not see everything.
Task<Result<std::vector<Finding>>> examine(DiscoveryRedisScripts const& scripts, ExpirySweep& sweep,
                                           std::string const& ns, std::chrono::seconds lease,
                                           bool fix, Deadline deadline);

}  // namespace rollcall::cosky

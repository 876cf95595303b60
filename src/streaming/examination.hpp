#pragma once

#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"
#include "streaming/expiry_sweep.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::streaming {

/// Looks at what this user may do, and compares index, sorted sets and Hashes of a prefix. With
/// `fix` it does what the sweep does, removes Hashes that describe no instance, and lists services
/// in the index that lack there.
///
/// Cost: SCAN over the whole database, then each key of the prefix once; ends by `deadline` and
/// says so when it did not see everything.
Task<Result<std::vector<Finding>>> examine(RegistryLuaScriptExecutor const& scripts,
                                           InstanceReader& reader, ExpirySweep& sweep, bool fix,
                                           Deadline deadline);

}  // namespace rollcall::streaming

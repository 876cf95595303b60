#pragma once

#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::streaming {

/// What keeps this user from registering, announcing and keeping house: missing rights, or a Redis
/// that takes no writes. Nothing when all of that works. Leaves nothing behind.
///
/// Cost: one script call.
Task<Result<std::vector<Finding>>> examine_rights(RegistryLuaScriptExecutor const& scripts,
                                                  Deadline deadline);

}  // namespace rollcall::streaming

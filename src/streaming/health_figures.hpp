#pragma once

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/streaming/registry_admin_service.hpp"

namespace rollcall::streaming {

/// Counts the instances of all services, and those of them that were heard of within `window`.
/// Services and instances whose keys have another type are left out and logged.
///
/// Cost: three round trips, whatever the numbers. Of a service its size and the ids of its active
/// members are read, of an active member two fields.
Task<Result<RegistryHealth>> read_health(RegistryLuaScriptExecutor const& scripts,
                                         InstanceReader& reader, Milliseconds window,
                                         Deadline deadline);

}  // namespace rollcall::streaming

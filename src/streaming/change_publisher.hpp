#pragma once

#include <span>
#include <string>

#include "core/deadline.hpp"
#include "redis/task.hpp"
#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/streaming/service_change_event.hpp"

namespace rollcall::streaming {

/// Tells subscribers of changes that are already stored, all in one round trip, in order. False
/// when a message was refused or may not have arrived, which is logged.
Task<bool> publish_changes(RegistryLuaScriptExecutor const& scripts,
                           std::span<ServiceChangeEvent const> events, Deadline deadline);

}  // namespace rollcall::streaming

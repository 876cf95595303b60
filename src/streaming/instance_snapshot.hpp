#pragma once

#include <optional>
#include <string_view>

#include "rollcall/instance.hpp"

namespace rollcall::streaming {

/// The instance that a removed Hash described, from the JSON object of its fields that the cleanup
/// script gives: what the announcement of its removal says. Malformed numbers become their
/// defaults; none for an empty snapshot, one without host, or one that is not an object. Any bytes
/// may be given.
std::optional<ServiceInstance> parse_snapshot(std::string_view service_name,
                                              std::string_view instance_id, std::string_view json);

}  // namespace rollcall::streaming

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {

/// The instance that a removed Hash described: what the announcement of its removal says.
/// Malformed numbers become their defaults, an unknown protocol HTTP; none without a host, as in
/// the snapshot of a Hash that had expired. Any bytes may be given.
std::optional<ServiceInstance> parse_snapshot(std::string_view service_name,
                                              std::string_view instance_id,
                                              std::span<InstanceEntryCodec::Field const> fields);

}  // namespace rollcall::streaming

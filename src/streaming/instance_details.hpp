#pragma once

#include <span>
#include <string>

#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/registry_admin_service.hpp"

namespace rollcall::streaming {

/// Everything that a Hash says, malformed numbers as their defaults. Any bytes may be given.
InstanceDetails details_of(std::string const& service, std::string const& id, Milliseconds as_of,
                           std::span<InstanceEntryCodec::Field const> fields);

/// Sums and rates over instances.
ServiceDetails details_of(std::string const& service, Milliseconds as_of,
                          std::vector<InstanceDetails> instances);

/// `part` of `total` in percent; 0 of none.
double percent(std::size_t part, std::size_t total) noexcept;

}  // namespace rollcall::streaming

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/layout_port.hpp"

namespace rollcall::redis {
class ClientCore;
}

namespace rollcall::cli {

/// What a Redis says of itself: nothing where it refuses to.
struct ServerFacts {
    std::map<std::string, std::string, std::less<>> info = {};  ///< The lines of INFO.
    std::string info_refusal = {};                              ///< Why there are none.
    std::optional<std::chrono::microseconds> clock = {};        ///< Its TIME, since the epoch.
    std::chrono::microseconds local_clock{};                    ///< Ours, half a round trip on.
    std::chrono::microseconds round_trip{};

    std::string_view value(std::string_view name) const;
};

/// Asks a Redis for its facts: two round trips. `core` must outlive the call.
Task<Result<ServerFacts>> server_facts(redis::ClientCore& core, Deadline deadline);

/// What the facts mean for a registry.
std::vector<Finding> server_findings(ServerFacts const& facts);

/// The finding about a `maxmemory-policy` that may evict entries; none for one that does not.
std::optional<Finding> eviction_finding(ServerFacts const& facts);

}  // namespace rollcall::cli

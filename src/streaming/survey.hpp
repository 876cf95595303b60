#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::streaming {

/// Everything that is stored under a prefix, as `doctor` looks at it.
struct Survey {
    enum class HashKind { missing, wrong_type, phantom, undecodable, instance };

    struct Entry {
        HashKind hash = HashKind::missing;
        std::optional<double> heartbeat = {};  ///< None without a member.
        bool ephemeral = true;
        std::int64_t ttl = 0;  ///< Milliseconds; −1 for none.
    };

    struct Service {
        bool indexed = false;
        bool wrong_type = false;  ///< Its heartbeats are no sorted set.
        std::map<std::string, Entry, std::less<>> entries = {};
    };

    Milliseconds now{0};
    bool index_wrong_type = false;
    bool complete = true;          ///< False: the deadline came before all keys were seen.
    std::string not_scanned = {};  ///< Why keys could not be searched for; empty: they were.
    std::map<std::string, Service, std::less<>> services = {};
};

/// Looks at index, sorted sets and Hashes, and searches the database for others of the prefix.
Task<Result<Survey>> survey(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader,
                            Deadline deadline);

}  // namespace rollcall::streaming

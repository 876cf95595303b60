#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {

/// Reads instances with plain commands. What is listed but has expired is taken off the list and
/// announced afterwards, as the design's readers do, unless this user or this Redis does not allow
/// both.
///
/// What cannot be read as an instance is left out, counted and logged; it never spoils the others.
/// Thread safety: the I/O thread only, construction aside.
class InstanceReader {
public:
    explicit InstanceReader(DiscoveryRedisScripts const& scripts) : scripts_(scripts) {}

    /// An instance with what is left of its lease, if it has one.
    struct Listed {
        DiscoveredInstance found = {};
        std::optional<std::chrono::milliseconds> lease = {};
    };

    /// Sorted. Cost: one round trip.
    Task<Result<std::vector<std::string>>> services(std::string const& ns, Deadline deadline);
    /// Sorted, with the number of living instances. Cost: three round trips.
    Task<Result<std::vector<ServiceSummary>>> summaries(std::string const& ns, Deadline deadline);
    /// Sorted by id. Cost: two round trips, one more after something expired.
    Task<Result<std::vector<Listed>>> list(std::string const& ns, std::string const& service,
                                           Deadline deadline);
    /// None: not listed, or expired. Cost: one round trip, one more when it expired.
    Task<Result<std::optional<Listed>>> one(std::string const& ns, InstanceId const& id,
                                            Deadline deadline);

    /// The `ttl_at` of what is listed and there, persistent things included; none otherwise. Cost:
    /// one round trip, one more when it expired.
    Task<Result<std::optional<std::int64_t>>> ttl_at(std::string const& ns, InstanceId const& id,
                                                     Deadline deadline);

    /// Takes off the lists of one namespace what has expired. A read does not fail because of it:
    /// others clean up too.
    Task<void> clean_up(std::string const& ns, std::vector<ExpireCall> calls, Deadline deadline);
    /// Leaves something out, counted and logged.
    void skip(std::string_view ns, std::string_view id, std::string_view why);

    std::size_t skipped() const noexcept { return skipped_; }  ///< So far, in all reads.

private:
    std::optional<Listed> listed(std::string_view ns, std::string const& id, redis::Value hash,
                                 redis::Value ttl, std::int64_t now);

    DiscoveryRedisScripts const& scripts_;
    std::size_t skipped_ = 0;
    /// Until when nothing is cleaned up in a namespace, because Redis refused it.
    std::map<std::string, std::chrono::steady_clock::time_point> reading_only_until_;
};

}  // namespace rollcall::cosky

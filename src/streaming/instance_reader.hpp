#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"
#include "registry/redis_clock.hpp"
#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/streaming/filter_builder.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {

/// Reads instances without writing: the members within a window of Redis' time, then their Hashes.
///
/// What cannot be read as an instance is left out, counted and logged; it never spoils the others.
/// Thread safety: the I/O thread only, construction aside. Names are sanitised or as stored.
class InstanceReader {
public:
    using Fields = std::span<InstanceEntryCodec::Field const>;
    using OnHash = std::function<void(std::size_t index, Fields fields)>;

    explicit InstanceReader(RegistryLuaScriptExecutor const& scripts) : scripts_(scripts) {}

    /// Members heard of within `window` before Redis' now; without a window all. Cost: one round
    /// trip, no script.
    Task<Result<Members>> members(std::string const& service, std::optional<Milliseconds> window,
                                  Deadline deadline);

    /// Calls `on_hash` with the index and the fields of each member that has a Hash, in order.
    /// Cost: one round trip.
    Task<Result<void>> hashes(std::string const& service, std::span<Member const> members,
                              OnHash const& on_hash, Deadline deadline);

    /// Whether a list tells what is left of each lease: to write a score as text takes Redis a
    /// fifth of the time that a Hash takes.
    enum class Leases { told, left_out };

    /// Instances in the order of their heartbeats. Cost: two round trips; with filters the first is
    /// a script that looks at every member.
    Task<Result<std::vector<Found>>> list(std::string const& service, ListScope scope,
                                          Filters const& metadata, Filters const& metrics,
                                          Leases leases, Deadline deadline);

    /// What is stored of one instance, whatever it is. Cost: one round trip.
    struct Stored {
        Milliseconds now{0};
        double heartbeat = 0;  ///< 0 without a member.
        HashFields fields = {};
    };
    Task<Result<Stored>> stored(std::string const& service, std::string const& id,
                                Deadline deadline);

    Task<Result<std::optional<Found>>> one(std::string const& service, std::string const& id,
                                           Deadline deadline);

    struct Index {
        Milliseconds now{0};
        std::vector<std::string> names = {};  ///< Sorted.
    };
    Task<Result<Index>> index(Deadline deadline);

    /// The names of the index alone.
    Task<Result<std::vector<std::string>>> services(Deadline deadline);

    /// The same with the number of members within the lease. Cost: two round trips.
    Task<Result<std::vector<ServiceSummary>>> summaries(Deadline deadline);

    std::size_t skipped() const noexcept { return skipped_; }  ///< So far, in all reads.

private:
    void note_time(Milliseconds now);
    Task<Result<Members>> members_from(std::string const& service, std::string const& lowest,
                                       Deadline deadline);
    /// As `members`, but only those near the end of the window have their heartbeats.
    Task<Result<Members>> ids(std::string const& service, Milliseconds window, Deadline deadline);
    std::optional<Found> found(std::string const& service, std::string const& id, Fields fields);
    /// `now` is Redis' time at the moment `seen`.
    void tell_lease(Found& found, double heartbeat, Milliseconds now,
                    std::chrono::steady_clock::time_point seen) const;
    void skip(std::string_view service, std::string_view id, std::string_view why);

    RegistryLuaScriptExecutor const& scripts_;
    RedisClock clock_;
    std::size_t skipped_ = 0;
};

}  // namespace rollcall::streaming

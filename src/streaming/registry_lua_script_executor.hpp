#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/task.hpp"
#include "registry/epoch_stamps.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {

using Milliseconds = std::chrono::milliseconds;

/// The time that a script takes for now: Redis' clock unless given, as tests do.
using GivenTime = std::optional<Milliseconds>;

// The arguments of the scripts. Names are sanitised; messages are composed by the script around
// `event_tail` (see event_text.hpp).

struct RegisterCall {
    std::string service = {};
    std::string id = {};
    std::string document = {};  ///< JSON, without the three times.
    std::string event_tail = {};
    GivenTime now = {};
};

/// For an instance as `InstanceEntryCodec::validated` gives it.
RegisterCall register_call(ServiceInstance const& validated);

struct DeregisterCall {
    std::string service = {};
    std::string id = {};
    std::string event_tail = {};
    GivenTime now = {};
};

struct HeartbeatCall {
    struct Entry {
        std::string id = {};
        std::string metadata = {};    ///< JSON; with `describing` only.
        std::string event_tail = {};  ///< With `describing` only; empty: no message.
    };
    std::string service = {};
    bool describing = false;          ///< Mode `metadata_update`, else `heartbeat_only`.
    std::vector<Entry> entries = {};  ///< At most `max_heartbeats`.
    GivenTime now = {};
};

enum class Beat { written, gone, wrong_type };

struct HeartbeatReply {
    std::vector<Beat> beats = {};  ///< One for each entry.
    bool announced = true;
};

struct CleanupCall {
    std::string service = {};
    Milliseconds timeout{0};
    std::size_t skip = 0;  ///< Candidates that an earlier call left: persistent instances.
    GivenTime now = {};
    /// Ids that may go, each with what the announcement says: see `event_tail`.
    std::vector<std::pair<std::string, std::string>> tails = {};
};

using HashFields = std::vector<std::pair<std::string, std::string>>;

struct CleanupReply {
    struct Snapshot {
        std::string id = {};
        HashFields hash = {};  ///< Empty when it had expired.
    };
    Milliseconds now{0};
    std::size_t kept = 0;  ///< Candidates that stay.
    std::vector<std::string> removed = {};
    std::vector<Snapshot> untold = {};  ///< Those that came without a tail.
    bool more = false;                  ///< The call looked at as many as it may.
};

struct Member {
    std::string id = {};
    double heartbeat = 0;  ///< Milliseconds; peers may have stored fractions.
};

/// A score as Redis writes it; 0 for anything else.
double score_of(std::string_view text) noexcept;

/// Wider than any time that stands for a moment, and far from the end of the type.
inline constexpr Milliseconds for_ever{100'000'000'000'000'000};

/// Within `for_ever` either way, so that differences do not overflow: peers may have stored any
/// score and any number.
Milliseconds bounded_time(double milliseconds) noexcept;
inline Milliseconds bounded_time(Milliseconds time) noexcept {
    return std::clamp(time, -for_ever, for_ever);
}

struct Members {
    Milliseconds now{0};  ///< Redis' clock.
    std::vector<Member> list = {};
};

struct UpdateCall {
    std::string service = {};
    std::string id = {};
    /// Write only while the stored metadata text is this; empty also stands for a missing field.
    std::optional<std::string> expected_metadata = {};
    HashFields fields = {};
    GivenTime now = {};
};

struct UpdateReply {
    bool existed = false;
    bool written = false;
    Milliseconds now{0};
    HashFields hash = {};  ///< After the change.
};

/// Runs the scripts of this layout. Source: seed 000, "Lua Scripts". Keys, arguments, replies and
/// costs are in `docs/redis-contract.md`.
///
/// The forms for many calls send all of them together and answer each on its own. What registers
/// and renews sees to it that the data has an epoch.
/// Thread safety: the I/O thread only.
class RegistryLuaScriptExecutor {
public:
    static constexpr std::size_t max_heartbeats = 128;      ///< Of one call.
    static constexpr std::size_t cleanup_candidates = 100;  ///< That one call looks at.

    /// `lease` is the TTL of ephemeral instances.
    RegistryLuaScriptExecutor(std::shared_ptr<redis::ClientCore> core, RegistryKeys keys,
                              std::chrono::seconds lease);

    Task<Result<Written>> execute_register(RegisterCall const& call, Deadline deadline) const;
    Task<std::vector<Result<Written>>> execute_register(std::span<RegisterCall const> calls,
                                                        Deadline deadline) const;
    Task<Result<Written>> execute_deregister(DeregisterCall const& call, Deadline deadline) const;
    Task<std::vector<Result<HeartbeatReply>>> execute_heartbeat_update(
        std::span<HeartbeatCall const> calls, Deadline deadline) const;
    Task<std::vector<Result<CleanupReply>>> execute_cleanup_expired_instances_with_snapshots(
        std::span<CleanupCall const> calls, Deadline deadline) const;
    Task<Result<Members>> execute_active_instances(std::string const& service, Milliseconds timeout,
                                                   Deadline deadline, GivenTime now = {}) const;
    Task<Result<Members>> execute_get_instances_by_filters(std::string const& service,
                                                           Milliseconds timeout,
                                                           std::string const& filters,
                                                           Deadline deadline,
                                                           GivenTime now = {}) const;

    // Ours, not the design's.

    Task<Result<UpdateReply>> execute_update(UpdateCall const& call, Deadline deadline) const;
    /// Removes a Hash without `host` and its member; false when it is no such Hash (any more).
    Task<Result<bool>> execute_remove_phantom(std::string const& service, std::string const& id,
                                              Deadline deadline) const;

    /// Notes in the log that Redis refused a message, and which right is missing.
    void note_refused(std::string_view service, std::string_view why) const;

    RegistryKeys const& keys() const noexcept { return keys_; }
    redis::ClientCore& core() const noexcept { return *core_; }
    std::shared_ptr<redis::ClientCore> const& shared_core() const noexcept { return core_; }
    std::chrono::seconds lease() const noexcept { return lease_; }

    /// What all calls have in common.
    struct Common {
        std::string prefix = {};
        std::string index = {};  ///< Key of the services index.
        std::string ttl = {};    ///< Seconds.
    };

private:
    Task<Result<Members>> members(redis::Request const& request, std::string const& service,
                                  Deadline deadline) const;

    std::shared_ptr<redis::ClientCore> core_;
    RegistryKeys keys_;
    std::chrono::seconds lease_;
    Common common_;
    std::string epoch_key_;
    std::shared_ptr<EpochStamps> epochs_;
};

}  // namespace rollcall::streaming

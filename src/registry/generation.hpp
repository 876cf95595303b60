#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

namespace rollcall {

/// One life of the data in Redis: as long as it is the same, nothing was lost by a restart, a flush
/// or a fail-over, so what is absent was removed. Equality is all that it is for.
struct Generation {
    std::string run_id = {};         ///< Of the process; changes with each start.
    std::string master_replid = {};  ///< Of the history; changes when a replica is promoted.
    std::string epoch = {};          ///< Ours, written once into data that has none.

    friend bool operator==(Generation const&, Generation const&) = default;
};

/// A generation as it was read, and by which connection.
struct GenerationRead {
    /// None without an epoch. Where INFO is refused, the connection stands in for the ids: the next
    /// one is another generation.
    std::optional<Generation> generation = {};
    std::int64_t client_id = 0;    ///< CLIENT ID; 0 where that is refused.
    std::uint64_t connection = 0;  ///< Of the session, counted; 0 when it is not known.

    /// Whether both came by one connection, with nothing else known than that.
    bool same_connection(GenerationRead const& other) const noexcept {
        return connection != 0 && connection == other.connection && client_id == other.client_id;
    }
};

/// The longest epoch that is one.
inline constexpr std::size_t longest_epoch = 256;

/// Reads the generation in one round trip: CLIENT ID, INFO twice, GET.
///
/// Errors: those of `Session::exec`; what Redis says of GET (`errc::unavailable` while it loads).
/// Without the right to read the key: no generation, no error.
Task<Result<GenerationRead>> read_generation(redis::Session& session, std::string epoch_key,
                                             Deadline deadline);

/// The same of the answers from `first` on: to CLIENT ID, INFO server, INFO replication and GET, in
/// this order.
Result<GenerationRead> generation_of(redis::Response const& replies, std::size_t first = 0);

/// Adds the questions whose answers `generation_of` takes.
void ask_generation(redis::Request& request, std::string_view epoch_key);

}  // namespace rollcall

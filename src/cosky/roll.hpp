#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

namespace rollcall::cosky {

/// Of one service: who of those on its list lives.
struct Roll {
    std::size_t living = 0;
    std::vector<std::string> expired = {};  ///< Ids that have no key any more, sorted.
    std::optional<Failure> failure = {};    ///< It is not known of all.
    bool no_list = false;                   ///< A failure: its list has another type.
};

/// Services whose rolls are called together: bounds what is held in memory.
inline constexpr std::size_t services_per_wave = 1'024;

/// One for each service, in order. Cost: two round trips, whatever the number.
Task<std::vector<Roll>> call_rolls(redis::Session& session, std::string const& ns,
                                   std::span<std::string const> services, Deadline deadline);

}  // namespace rollcall::cosky

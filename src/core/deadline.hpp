#pragma once

#include <algorithm>
#include <chrono>

namespace rollcall {

/// The moment, on the monotonic clock, at which an operation gives up.
using Deadline = std::chrono::steady_clock::time_point;

/// As good as for ever: a hundred years. Much longer times would overflow the clock into the past.
inline constexpr std::chrono::hours longest_limit{24 * 36'500};

/// Longer limits than `longest_limit` are cut to that, either way.
template <class Rep, class Period>
Deadline after(std::chrono::duration<Rep, Period> limit) {
    // Compared in the unit of the limit: a finer one may not hold it.
    constexpr auto most =
        std::chrono::duration_cast<std::chrono::duration<Rep, Period>>(longest_limit);
    return std::chrono::steady_clock::now() + std::clamp(limit, -most, most);
}

}  // namespace rollcall

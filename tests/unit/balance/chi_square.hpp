#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rollcall::balance::test {

/// How far counts are from what the weights let expect, as a number of standard deviations of the
/// chi-square distribution (Wilson and Hilferty). Infinite if a weight of 0 was drawn.
inline double deviation(std::span<std::uint64_t const> counts,
                        std::span<std::uint64_t const> weights) {
    double draws = 0;
    double full = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        draws += static_cast<double>(counts[i]);
        full += static_cast<double>(weights[i]);
    }
    double sum = 0;
    double freedom = -1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (weights[i] == 0) {
            if (counts[i] > 0) return HUGE_VAL;
            continue;
        }
        auto const expected = draws * static_cast<double>(weights[i]) / full;
        auto const off = static_cast<double>(counts[i]) - expected;
        sum += off * off / expected;
        ++freedom;
    }
    if (freedom == 0) return 0;
    auto const part = 2 / (9 * freedom);
    return (std::cbrt(sum / freedom) - (1 - part)) / std::sqrt(part);
}

}  // namespace rollcall::balance::test

#pragma once

#include <algorithm>
#include <chrono>

#include "rollcall/cosky/config.hpp"

namespace rollcall::cosky {

/// A renewal is published when what readers last heard of the lease ends within this time. `ttl` is
/// the lease and at least 1 s, `period` the time from one round of renewals to the next.
///
/// The design's readers filter by the `ttl_at` that they last heard, in whole seconds, and hear
/// only of published renewals. A renewal that stays silent must leave room for another one, so at
/// least a period; for two, so that one round may be missed; and for 2 s more, because TTL is
/// rounded, TIME cut off, and a reader's clock reads whole seconds. With the design's fixed 5 s,
/// which is shorter than its usual period, readers hide healthy instances (spec 4.3, 14.1 number
/// 1, 17.7).
///
/// Not above `ttl` − 1 s, or each renewal would be published even right after another, and never
/// below the design's 5 s: ours publishes whenever a peer would.
constexpr std::chrono::seconds renewal_tolerance(std::chrono::seconds ttl,
                                                 std::chrono::milliseconds period) noexcept {
    using std::chrono::seconds;
    auto const two_rounds = 2 * std::chrono::ceil<seconds>(period) + seconds{2};
    return std::max(seconds{5}, std::min(ttl - seconds{1}, two_rounds));
}

/// The same for a renewal outside of rounds, whose caller has lately let `pause` pass between two:
/// that is the period as far as anybody knows, and at least the usual one.
constexpr std::chrono::seconds single_renewal_tolerance(std::chrono::seconds ttl,
                                                        std::chrono::milliseconds pause) noexcept {
    return renewal_tolerance(ttl, std::max(pause, RenewProperties{}.period));
}

}  // namespace rollcall::cosky

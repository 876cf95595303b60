#pragma once

#include <atomic>

#include "balance/choosing.hpp"

namespace rollcall::balance {

/// As `second_is_better`, where one of them has failed of late.
bool second_of_failing_is_better(Candidate const& first, Candidate const& second,
                                 Choosing& choosing) noexcept;

/// The calls that wait for it, as they count for its weight.
inline float waiting(Candidate const& one) noexcept {
    auto const outstanding = one.stats->outstanding.load(std::memory_order_relaxed);
    return static_cast<float>(outstanding) * one.per_call;
}

/// How long a call to `one` may take, where `latency` is 0 if nothing is known: then it is taken
/// for that of the other, so that a newcomer is neither flooded nor avoided.
inline float expected(Candidate const& one, float latency, float of_other) noexcept {
    auto const known = latency > 0 ? latency : of_other;
    return (known > 0 ? known : 1) * (1 + waiting(one));
}

/// Whether the second of two that were drawn is to have the call, by what is known of both. If
/// neither is better it is the first, so that chance, and with it the weights, decide.
inline bool second_is_better(Candidate const& first, Candidate const& second,
                             Choosing& choosing) noexcept {
    auto const failing = first.stats->failing.load(std::memory_order_relaxed) +
                         second.stats->failing.load(std::memory_order_relaxed);
    if (failing > 0) [[unlikely]]
        return second_of_failing_is_better(first, second, choosing);
    if (choosing.kind == Plan::Kind::least_outstanding) {
        return waiting(second) < waiting(first);
    }
    auto const latency = first.stats->latency_at(choosing.moment, choosing.half_life);
    auto const of_second = second.stats->latency_at(choosing.moment, choosing.half_life);
    return expected(second, of_second, latency) < expected(first, latency, of_second);
}

}  // namespace rollcall::balance

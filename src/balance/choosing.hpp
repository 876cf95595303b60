#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "balance/call_stats.hpp"
#include "balance/moment.hpp"
#include "balance/plan.hpp"
#include "balance/random.hpp"
#include "balance/turns.hpp"

#include "rollcall/choose_options.hpp"
#include "rollcall/instance.hpp"

namespace rollcall::balance {

/// An instance that may get traffic.
struct Candidate {
    ServiceInstance const* instance = nullptr;
    CallStats* stats = nullptr;
    std::uint32_t weight = 0;
    /// What a call is to it, where an instance of the mean weight has 1.
    float per_call = 1;
};

/// Who of the candidates is not wanted this time, and who only now and then.
struct Filter {
    std::span<std::string_view const> exclude = {};
    bool heeds_outliers = false;             ///< Somebody may be out.
    std::chrono::nanoseconds slow_start{0};  ///< Somebody may be new; 0: nobody is.
    Moment::Time now = {};                   ///< If any of the two.

    bool active() const noexcept {
        return !exclude.empty() || heeds_outliers || slow_start.count() > 0;
    }
    bool wants(Candidate const& one) const noexcept {
        if (heeds_outliers && one.stats->is_out(now)) return false;
        return exclude.empty() || std::find(exclude.begin(), exclude.end(),
                                            one.instance->instance_id) == exclude.end();
    }
    /// Of its usual traffic, how much a new one is to get: of 2^32.
    std::uint64_t part(Candidate const& one) const noexcept;
    bool takes(Candidate const& one, std::uint64_t random) const noexcept {
        return wants(one) && (random >> 32) < part(one);
    }
};

/// One choice while it is made.
struct Choosing {
    Plan::Kind kind;
    ChooseOptions const& options;
    Random& random;
    Moment& moment;
    std::chrono::nanoseconds half_life;  ///< Of latencies.
    Turns* turns;                        ///< Of the handle; null unless it goes in turn.

    /// Whether it is the key that chooses.
    bool by_key() const noexcept {
        return kind == Plan::Kind::consistent_hash && options.key.has_value();
    }
};

}  // namespace rollcall::balance

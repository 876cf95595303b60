#include "balance/comparison.hpp"

#include <algorithm>

namespace rollcall::balance {
namespace {

// By so much of its calls more has one to fail before it loses whatever else is known.
constexpr float much_more_often = 1.0F / 4;
// A failure counts as so many times the usual latency more, save a single one now and then: nobody
// would call whom it befell before all of that is forgotten.
constexpr float price_of_failing = 4;
constexpr float forgiven = 1.0F / 8;

float price(float failing) { return 1 + (price_of_failing * std::max(failing - forgiven, 0.0F)); }

}  // namespace

bool second_of_failing_is_better(Candidate const& first, Candidate const& second,
                                 Choosing& choosing) noexcept {
    auto const failing = first.stats->failing_at(choosing.moment);
    auto const of_second = second.stats->failing_at(choosing.moment);
    if (failing > of_second + much_more_often) return true;
    if (of_second > failing + much_more_often) return false;
    if (choosing.kind == Plan::Kind::least_outstanding) {
        return waiting(second) < waiting(first);
    }
    auto const latency = first.stats->latency_at(choosing.moment, choosing.half_life);
    auto const latency_of_second = second.stats->latency_at(choosing.moment, choosing.half_life);
    return expected(second, latency_of_second, latency) * price(of_second) <
           expected(first, latency, latency_of_second) * price(failing);
}

}  // namespace rollcall::balance

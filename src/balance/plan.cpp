#include "balance/plan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "core/text.hpp"

namespace rollcall::balance {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_points = 4'096;
constexpr milliseconds longest{std::chrono::hours{24 * 365}};

void check_time(char const* field, milliseconds value, milliseconds least) {
    if (value >= least && value <= longest) return;
    refuse(field, std::to_string(value.count()) + " ms",
           "must be from " + std::to_string(least.count()) + " ms to a year");
}

void check_part(char const* field, double value, bool none_too) {
    // Also not for what is no number.
    if (value <= 1 && (none_too ? value >= 0 : value > 0)) return;
    refuse(field, std::to_string(value),
           none_too ? "must be from 0 to 1" : "must be above 0, and at most 1");
}

}  // namespace

bool Outliers::anybody_out(Moment& moment) noexcept {
    auto const until = until_.get();
    if (!until) return false;
    if (moment.get() < *until) return true;
    // From now on nobody looks at the clock for it; unless somebody goes at this very moment.
    std::unique_lock const lock{mutex, std::try_to_lock};
    if (lock.owns_lock() && until_.get() == until) until_.set(std::nullopt);
    return false;
}

void validate(Policy const& policy) {
    if (auto const* const latency = std::get_if<LowestLatency>(&policy.balancer)) {
        check_time("balancer.half_life", latency->half_life, milliseconds{1});
    }
    if (auto const* const hash = std::get_if<ConsistentHash>(&policy.balancer)) {
        if (hash->points < 1 || hash->points > most_points) {
            refuse("balancer.points", std::to_string(hash->points),
                   "must be from 1 to " + std::to_string(most_points));
        }
    }
    check_part("locality.enough", policy.locality.enough, false);
    check_time("slow_start", policy.slow_start, milliseconds::zero());
    check_time("ejection.base_time", policy.ejection.base_time, milliseconds{1});
    check_time("ejection.longest_time", policy.ejection.longest_time, policy.ejection.base_time);
    check_part("ejection.at_most", policy.ejection.at_most, true);
}

PlanPtr Plans::get(Policy const& policy) {
    std::lock_guard const lock{mutex_};
    std::erase_if(plans_, [](auto const& plan) { return plan.expired(); });
    for (auto const& weak : plans_) {
        auto plan = weak.lock();
        if (plan && plan->policy() == policy) return plan;
    }
    auto made = std::make_shared<Plan const>(policy, outliers_);
    plans_.emplace_back(made);
    return made;
}

std::vector<PlanPtr> Plans::in_use() {
    std::lock_guard const lock{mutex_};
    std::vector<PlanPtr> used;
    for (auto const& weak : plans_) {
        auto plan = weak.lock();
        if (plan && plan->was_used()) used.push_back(std::move(plan));
    }
    return used;
}

}  // namespace rollcall::balance

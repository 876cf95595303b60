#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/call_stats.hpp"

#include "rollcall/balancer.hpp"

namespace rollcall::balance {

/// How a handle chooses.
struct Policy {
    Balancer balancer = WeightedRandom{};
    Locality locality = {};
    std::chrono::milliseconds slow_start{0};
    OutlierEjection ejection = {.consecutive_failures = 0};

    friend bool operator==(Policy const&, Policy const&) = default;
};

/// Throws `std::invalid_argument`, as `refuse` makes it, for a value out of range.
void validate(Policy const& policy);

/// What handles of one service know together of those that are out.
struct Outliers {
    std::mutex mutex;  ///< Held while it is decided whether one more may go, and for `note`.

    bool maybe_anybody_out() const noexcept { return until_.get().has_value(); }
    bool anybody_out(Moment& moment) noexcept;
    void note(Moment::Time until) noexcept {
        until_.set(std::max(until, until_.get().value_or(until)));
    }

private:
    AtomicTime<Moment::Clock> until_;  ///< Nobody is out after that.
};

/// A policy that handles of a service have, with what they share because of it.
class Plan {
public:
    enum class Kind {
        weighted_random,
        round_robin,
        least_outstanding,
        lowest_latency,
        consistent_hash,
    };

    Plan(Policy policy, std::shared_ptr<Outliers> outliers)
        : policy_(std::move(policy)), outliers_(std::move(outliers)) {}

    Policy const& policy() const noexcept { return policy_; }
    Kind kind() const noexcept { return kind_; }
    /// Whether it looks at latencies, so that calls are to be timed.
    bool measures() const noexcept { return kind_ == Kind::lowest_latency; }
    bool ejects() const noexcept { return policy_.ejection.consecutive_failures > 0; }
    std::chrono::nanoseconds half_life() const noexcept { return half_life_; }
    Outliers& outliers() const noexcept { return *outliers_; }

    /// Somebody chooses by it.
    void note_use() const noexcept {
        if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
    }
    /// Whether somebody has since the last time that this was asked.
    bool was_used() const noexcept { return used_.exchange(false, std::memory_order_relaxed); }

private:
    Policy const policy_;
    std::shared_ptr<Outliers> const outliers_;
    Kind const kind_ = static_cast<Kind>(policy_.balancer.index());
    std::chrono::nanoseconds const half_life_ =
        kind_ == Kind::lowest_latency
            ? std::chrono::nanoseconds{std::get<LowestLatency>(policy_.balancer).half_life}
            : std::chrono::nanoseconds{CallStats::half_life};
    mutable std::atomic<bool> used_ = false;
};

using PlanPtr = std::shared_ptr<Plan const>;

/// The plans of one service: handles of the same policy share one.
///
/// Thread safety: all members.
class Plans {
public:
    PlanPtr get(Policy const& policy);
    /// Those by which somebody has chosen since this was last asked.
    std::vector<PlanPtr> in_use();

private:
    std::shared_ptr<Outliers> const outliers_ = std::make_shared<Outliers>();
    std::mutex mutex_;
    std::vector<std::weak_ptr<Plan const>> plans_;
};

}  // namespace rollcall::balance

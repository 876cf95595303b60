#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "balance/call_stats.hpp"
#include "balance/candidate_list.hpp"
#include "balance/choosing.hpp"
#include "balance/plan.hpp"

#include "rollcall/call_outcome.hpp"
#include "rollcall/instance.hpp"

namespace rollcall::balance {

/// An instance as the service has it.
struct Member {
    ServiceInstance const* instance;
    CallStats* stats;
    std::uint32_t weight;  ///< Also of who gets no traffic now.
    bool able;             ///< To get traffic.
};

/// Those of a service that may get traffic, prepared for one policy: those of the caller's zone, of
/// the region beyond it, and the others.
///
/// Thread safety: all members.
/// Lifetime: instances and stats outlive it.
class Candidates {
public:
    /// Null members do not occur. `before`: of the same plan, what this takes the place of, or
    /// null.
    Candidates(PlanPtr plan, std::span<Member const> members, Candidates const* before);

    Plan const& plan() const noexcept { return *plan_; }

    /// Null if nobody is there, or everybody is excluded. Allocates nothing.
    /// `turns` belongs to the handle; not null for `RoundRobin`.
    Candidate const* choose(ChooseOptions const& options, Random& random, Moment& moment,
                            Turns* turns) const noexcept {
        Choosing choosing{plan_->kind(), options, random, moment, plan_->half_life(), turns};
        if (only_ < Turns::levels && !may_filter(options)) [[likely]]
            return &levels_[only_].pick(choosing, only_);
        return choose_wanted(choosing);
    }

    /// What is learnt of a call that `stats` counts as outstanding; it does no longer.
    void end_call(CallStats& stats, CallOutcome outcome,
                  std::optional<std::chrono::nanoseconds> latency, Moment& moment) const noexcept;

private:
    using Levels = std::array<CandidateList, Turns::levels>;
    using Parts = std::array<double, Turns::levels>;

    static std::size_t level_of(ServiceInstance const& instance, Locality const& locality);
    void share_out(Parts const& known, Parts const& able);
    bool may_filter(ChooseOptions const& options) const noexcept {
        return !options.exclude.empty() || new_until_.get() ||
               (outliers_ != nullptr && outliers_->maybe_anybody_out());
    }
    Filter filter(ChooseOptions const& options, Moment& moment) const noexcept;
    std::size_t first_level(Choosing const& choosing) const noexcept;
    Candidate const* choose_wanted(Choosing& choosing) const noexcept;
    Candidate const* from_any(Choosing& choosing, Filter filter) const noexcept;
    void put_out_if_due(CallStats& stats, Moment::Time now) const noexcept;
    bool one_more_may_go(Moment::Time now) const noexcept;

    PlanPtr const plan_;
    Outliers* const outliers_;  ///< Null if it does not heed them.
    Levels levels_;
    Parts parts_ = {};                  ///< Of the calls, by level.
    std::size_t only_ = Turns::levels;  ///< The level that has all of them, if one has.
    AtomicTime<Moment::Clock> mutable new_until_;
};

}  // namespace rollcall::balance

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "balance/alias_table.hpp"
#include "balance/call_stats.hpp"
#include "balance/choosing.hpp"
#include "balance/hash_ring.hpp"
#include "balance/plan.hpp"
#include "balance/round.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::balance {

/// One of several that may get traffic, all of which are preferred alike; how one of them is chosen
/// by each policy.
///
/// Never changes but for what is known of the calls.
/// Thread safety: all members.
class CandidateList {
public:
    CandidateList() = default;
    /// Their weights are above zero. `before` is the list that this one takes the place of.
    CandidateList(std::vector<Candidate> candidates, Plan const& plan, CandidateList const* before);

    bool empty() const noexcept { return candidates_.empty(); }
    std::vector<Candidate> const& candidates() const noexcept { return candidates_; }

    /// Where everybody is wanted. Not if it is empty.
    Candidate const& pick(Choosing& choosing, std::size_t level) const noexcept {
        switch (choosing.kind) {
            case Plan::Kind::round_robin:
                return in_turn(*choosing.turns, level);
            case Plan::Kind::least_outstanding:
            case Plan::Kind::lowest_latency:
                return better_of_two(choosing);
            case Plan::Kind::consistent_hash:
                if (choosing.options.key) return by_key(*choosing.options.key);
                break;
            case Plan::Kind::weighted_random:
                break;
        }
        return candidates_[draw(choosing.random)];
    }
    /// Null if nobody here is wanted.
    Candidate const* pick(Choosing& choosing, std::size_t level,
                          Filter const& filter) const noexcept;

private:
    // How often a policy is asked again when it names somebody who is not wanted, before all are
    // looked at: so many are rarely out, new or excluded, one after the other.
    static constexpr int tries = 8;
    static constexpr int tries_on_ring = 64;
    static constexpr int tries_of_second = 4;

    std::size_t draw(Random& random) const noexcept {
        return choice_ ? choice_->pick(random()) : spread(random(), candidates_.size()).index;
    }
    Candidate const& in_turn(Turns& turns, std::size_t level) const noexcept {
        return candidates_[round_.at(turns.next(round_, level))];
    }
    Candidate const& better(std::size_t first, std::size_t second,
                            Choosing& choosing) const noexcept;
    Candidate const& better_of_two(Choosing& choosing) const noexcept;
    Candidate const& by_key(std::string_view key) const noexcept;

    Candidate const* draw(Random& random, Filter const& filter) const noexcept;
    Candidate const* draw_exactly(Random& random, Filter const& filter) const noexcept;
    Candidate const* in_turn(Choosing const& choosing, std::size_t level,
                             Filter const& filter) const noexcept;
    Candidate const* better_of_two(Choosing& choosing, Filter const& filter) const noexcept;
    Candidate const* by_key(std::string_view key, Filter const& filter) const noexcept;
    void make_ring(std::size_t places, CandidateList const* before);

    std::vector<Candidate> candidates_;
    std::optional<AliasTable> choice_;  ///< None: all weigh the same.
    Round round_;
    std::optional<HashRing> ring_;  ///< Where keys count.
};

}  // namespace rollcall::balance

#include "balance/candidate_list.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "balance/comparison.hpp"
#include "balance/ring_hash.hpp"
#include "balance/weighted_draw.hpp"

namespace rollcall::balance {
namespace {

constexpr std::uint64_t all_of_it = std::uint64_t{1} << 32;

std::vector<std::uint64_t> weights_of(std::vector<Candidate> const& candidates) {
    std::vector<std::uint64_t> weights;
    weights.reserve(candidates.size());
    for (auto const& one : candidates) weights.push_back(one.weight);
    return weights;
}

}  // namespace

std::uint64_t Filter::part(Candidate const& one) const noexcept {
    if (slow_start.count() == 0) return all_of_it;
    auto const appeared = one.stats->appeared_at.get();
    if (!appeared || now - *appeared >= slow_start) return all_of_it;
    constexpr double first = 0.1;
    auto const passed = std::max(now - *appeared, Moment::Clock::duration::zero());
    auto const gone = static_cast<double>(passed.count()) / static_cast<double>(slow_start.count());
    return static_cast<std::uint64_t>((first + ((1 - first) * gone)) * 0x1p32);
}

CandidateList::CandidateList(std::vector<Candidate> candidates, Plan const& plan,
                             CandidateList const* before)
    : candidates_(std::move(candidates)) {
    if (candidates_.empty()) return;
    auto weights = weights_of(candidates_);
    auto const [least, most] = std::minmax_element(weights.begin(), weights.end());
    if (plan.kind() == Plan::Kind::round_robin) {
        round_ = Round{std::vector<std::uint32_t>{weights.begin(), weights.end()}};
    }
    if (plan.kind() == Plan::Kind::consistent_hash) {
        make_ring(std::get<ConsistentHash>(plan.policy().balancer).points, before);
    };
    if (*least == *most) return;
    auto const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    auto const mean = sum / static_cast<double>(weights.size());
    for (auto& one : candidates_) one.per_call = static_cast<float>(mean / one.weight);
    choice_.emplace(weights);
}

void CandidateList::make_ring(std::size_t places, CandidateList const* before) {
    IdList ids;
    std::string id;
    for (auto const& one : candidates_) {
        id.assign(one.instance->service_name).append(":").append(one.instance->instance_id);
        ids.add(id);
    }
    if (before != nullptr && before->ring_) {
        ring_.emplace(before->ring_->changed(std::move(ids)));
    } else {
        ring_.emplace(std::move(ids), static_cast<std::uint32_t>(places));
    }
}

Candidate const& CandidateList::better(std::size_t first, std::size_t second,
                                       Choosing& choosing) const noexcept {
    auto const& one = candidates_[first];
    auto const& other = candidates_[second];
    return second_is_better(one, other, choosing) ? other : one;
}

Candidate const& CandidateList::better_of_two(Choosing& choosing) const noexcept {
    auto const size = candidates_.size();
    if (!choice_ && size > 1) {
        auto const [first, rest] = spread(choosing.random(), size);
        auto const behind = first + 1 + spread(rest, size - 1).index;
        return better(first, behind < size ? behind : behind - size, choosing);
    }
    auto const first = draw(choosing.random);
    auto second = draw(choosing.random);
    // Who has most of the weight is drawn again and again: then there is no other.
    for (int i = 0; second == first && i < tries_of_second; ++i) second = draw(choosing.random);
    return better(first, second, choosing);
}

Candidate const& CandidateList::by_key(std::string_view key) const noexcept {
    return candidates_[ring_->find(ring_hash(key))];
}

Candidate const* CandidateList::pick(Choosing& choosing, std::size_t level,
                                     Filter const& filter) const noexcept {
    if (empty()) return nullptr;
    if (!filter.active()) return &pick(choosing, level);
    switch (choosing.kind) {
        case Plan::Kind::round_robin:
            return in_turn(choosing, level, filter);
        case Plan::Kind::least_outstanding:
        case Plan::Kind::lowest_latency:
            return better_of_two(choosing, filter);
        case Plan::Kind::consistent_hash:
            if (choosing.options.key) return by_key(*choosing.options.key, filter);
            break;
        case Plan::Kind::weighted_random:
            break;
    }
    return draw(choosing.random, filter);
}

Candidate const* CandidateList::draw(Random& random, Filter const& filter) const noexcept {
    for (int i = 0; i < tries; ++i) {
        auto const& one = candidates_[draw(random)];
        if (filter.takes(one, random())) return &one;
    }
    return draw_exactly(random, filter);
}

/// What the tries would give in the end.
Candidate const* CandidateList::draw_exactly(Random& random, Filter const& filter) const noexcept {
    constexpr int spare = 16;  // Of the bits of a part, so that all sums fit.
    WeightedDraw drawn{random};
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        auto const& one = candidates_[i];
        if (filter.wants(one)) drawn.offer(i, one.weight * (filter.part(one) >> spare));
    }
    return drawn.drawn() == WeightedDraw::none ? nullptr : &candidates_[drawn.drawn()];
}

Candidate const* CandidateList::in_turn(Choosing const& choosing, std::size_t level,
                                        Filter const& filter) const noexcept {
    for (int i = 0; i < tries; ++i) {
        auto const& one = in_turn(*choosing.turns, level);
        if (filter.takes(one, choosing.random())) return &one;
    }
    return draw_exactly(choosing.random, filter);
}

Candidate const* CandidateList::better_of_two(Choosing& choosing,
                                              Filter const& filter) const noexcept {
    auto const* const first = draw(choosing.random, filter);
    if (first == nullptr) return nullptr;
    auto const* second = draw(choosing.random, filter);
    for (int i = 0; second == first && i < tries_of_second; ++i) {
        second = draw(choosing.random, filter);
    }
    // Calls that fail meanwhile may eject everybody.
    if (second == nullptr) return first;
    return second_is_better(*first, *second, choosing) ? second : first;
}

/// Who is not wanted is passed over, so that the others keep their keys; and of a new one's keys,
/// always the same are.
Candidate const* CandidateList::by_key(std::string_view key, Filter const& filter) const noexcept {
    auto const hash = ring_hash(key);
    int left = tries_on_ring;
    auto const found = ring_->find(hash, [&](std::size_t at) {
        auto const& one = candidates_[at];
        Random drawn{hash ^ std::hash<std::string_view>{}(one.instance->instance_id)};
        return left-- == 0 || filter.takes(one, drawn());
    });
    if (left >= 0) return &candidates_[found];
    Random drawn{hash};
    return draw_exactly(drawn, filter);
}

}  // namespace rollcall::balance

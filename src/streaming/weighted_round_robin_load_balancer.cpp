#include "rollcall/streaming/weighted_round_robin_load_balancer.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "balance/id_list.hpp"
#include "balance/smooth_round_robin.hpp"
#include "registry/live/holder.hpp"
#include "streaming/candidates.hpp"
#include "streaming/list_memory.hpp"

namespace rollcall::streaming {
namespace {

/// A list of candidates, and where threads are in its sequence.
class Sequence {
public:
    Sequence(balance::IdList ids, std::vector<std::uint32_t> weights, std::uint64_t turn)
        : ids_(std::move(ids)), weights_(std::move(weights)), robin_(weights_, turn) {}

    bool is_of(Candidates candidates) const noexcept {
        if (candidates.size() != weights_.size()) return false;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (candidates[i].instance_id != ids_[i] ||
                effective_weight(candidates[i]) != weights_[i]) {
                return false;
            }
        }
        return true;
    }

    std::size_t next(Wanted const& wanted) {
        auto const thread = live::thread_state.number;
        return wanted.all() ? robin_.next(thread) : robin_.next(thread, wanted);
    }

    std::size_t bytes() const noexcept {
        return robin_.bytes() + ids_.bytes() + weights_.size() * sizeof weights_[0];
    }

private:
    balance::IdList const ids_;
    std::vector<std::uint32_t> const weights_;
    balance::SmoothRoundRobin robin_;
};

std::shared_ptr<Sequence> sequence_of(Candidates candidates, std::uint64_t turn) {
    balance::IdList ids;
    std::vector<std::uint32_t> weights;
    for (auto const& candidate : candidates) {
        ids.add(candidate.instance_id);
        weights.push_back(effective_weight(candidate));
    }
    return std::make_shared<Sequence>(std::move(ids), std::move(weights), turn);
}

}  // namespace

struct WeightedRoundRobinLoadBalancer::Impl {
    ListMemory<Sequence> memory{MemoryLimits{}};
};

WeightedRoundRobinLoadBalancer::WeightedRoundRobinLoadBalancer()
    : impl_(std::make_unique<Impl>()) {}

WeightedRoundRobinLoadBalancer::~WeightedRoundRobinLoadBalancer() = default;

ServiceInstance const* WeightedRoundRobinLoadBalancer::choose(std::string_view service_name,
                                                              Candidates candidates,
                                                              ChooseOptions const& options) {
    Wanted const wanted{candidates, options};
    auto const forced = forced_choice(candidates, wanted);
    if (forced.decided) return forced.chosen;
    auto const chosen = impl_->memory.with(
        service_name, [&](Sequence const& known) { return known.is_of(candidates); },
        [&](auto const&, std::uint64_t turn) { return sequence_of(candidates, turn); },
        [&](Sequence& sequence) { return sequence.next(wanted); });
    return &candidates[chosen];
}

}  // namespace rollcall::streaming

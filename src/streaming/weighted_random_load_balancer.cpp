#include "rollcall/streaming/weighted_random_load_balancer.hpp"

#include "balance/random.hpp"
#include "balance/weighted_draw.hpp"
#include "streaming/candidates.hpp"

namespace rollcall::streaming {

// Nothing is remembered: to compare weights with those of the last time takes as long as to draw
// from them.
ServiceInstance const* WeightedRandomLoadBalancer::choose(std::string_view /*service_name*/,
                                                          Candidates candidates,
                                                          ChooseOptions const& options) {
    Wanted const wanted{candidates, options};
    auto const forced = forced_choice(candidates, wanted);
    if (forced.decided) return forced.chosen;
    balance::WeightedDraw draw{balance::thread_random()};
    for (auto i = forced.first; i < candidates.size(); ++i) {
        if (wanted(i)) draw.offer(i, effective_weight(candidates[i]));
    }
    return &candidates[draw.drawn()];
}

}  // namespace rollcall::streaming

#include "rollcall/streaming/scored_load_balancer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "streaming/candidates.hpp"
#include "streaming/score.hpp"

namespace rollcall::streaming {
namespace {

// Whose metrics are asked for at once.
constexpr std::size_t block = 256;

}  // namespace

struct ScoredLoadBalancer::Impl {
    ServiceInstance const* best(std::string_view service, Candidates candidates,
                                Wanted const& wanted) const;

    Score const score;
    std::shared_ptr<MetricsProvider> const metrics;
};

/// None when all are out.
ServiceInstance const* ScoredLoadBalancer::Impl::best(std::string_view service,
                                                      Candidates candidates,
                                                      Wanted const& wanted) const {
    auto const& names = score.names();
    std::array<double, block * Score::most_metrics> values = {};
    if (!metrics) values.fill(std::numeric_limits<double>::quiet_NaN());
    ServiceInstance const* found = nullptr;
    double highest = 0;
    for (std::size_t begin = 0; begin < candidates.size(); begin += block) {
        auto const some = candidates.subspan(begin, std::min(block, candidates.size() - begin));
        if (metrics) {
            metrics->read(service, some, names,
                          std::span{values}.first(some.size() * names.size()));
        }
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (!wanted(begin + i)) continue;
            auto const reached = score(some[i], values.data() + i * names.size());
            if (!reached || (found != nullptr && *reached <= highest)) continue;
            found = &some[i];
            highest = *reached;
        }
    }
    return found;
}

ScoredLoadBalancer::ScoredLoadBalancer(LoadBalancerConfig config,
                                       std::shared_ptr<MetricsProvider> metrics)
    : impl_(new Impl{.score = Score{std::move(config)}, .metrics = std::move(metrics)}) {}

ScoredLoadBalancer::~ScoredLoadBalancer() = default;

ServiceInstance const* ScoredLoadBalancer::choose(std::string_view service_name,
                                                  Candidates candidates,
                                                  ChooseOptions const& options) {
    Wanted const wanted{candidates, options};
    auto const forced = forced_choice(candidates, wanted);
    bool const strict = impl_->score.config().none_when_all_excluded;
    if (forced.decided && (forced.chosen == nullptr || !strict)) return forced.chosen;
    if (auto const* const best = impl_->best(service_name, candidates, wanted)) return best;
    return strict ? nullptr : &candidates[forced.first];
}

}  // namespace rollcall::streaming

#include "streaming/score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "streaming/candidates.hpp"

namespace rollcall::streaming {
namespace {

/// Weights are small numbers, mostly.
double log10_after(std::uint32_t weight) noexcept {
    static auto const small = [] {
        std::array<double, 128> all{};
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = std::log10(static_cast<double>(i + 1));
        return all;
    }();
    return weight < small.size() ? small[weight] : std::log10(static_cast<double>(weight) + 1);
}

double power(double base, double exponent) noexcept {
    return exponent == 1 ? base : std::pow(base, exponent);
}

bool is_in(ServiceInstance const& instance, std::string_view what,
           std::optional<std::string> const& preferred) {
    if (!preferred) return false;
    auto const found = instance.metadata.find(what);
    return found != instance.metadata.end() && found->second == *preferred;
}

}  // namespace

Score::Score(LoadBalancerConfig config) : config_(std::move(config)) {
    auto const& c = config_;
    Part const all[most_metrics] = {
        {c.cpu_key, c.max_cpu_percent, c.cpu_weight, Shape::percent},
        {c.latency_key, c.max_latency_ms, c.latency_weight, Shape::latency},
        {c.memory_key, c.max_memory_percent, c.memory_weight, Shape::percent},
        {c.inflight_key, c.max_inflight, c.inflight_weight, Shape::count},
        {c.queue_key, c.max_queue, c.queue_weight, Shape::count},
        {c.error_rate_key, c.max_error_rate_percent, c.error_rate_weight, Shape::percent}};
    for (std::size_t i = 0; i < most_metrics; ++i) {
        // The first two count with any weight, also a negative one.
        auto part = all[i];
        if (i >= 2 && !(part.weight > 0)) part.weight = 0;
        if (part.weight == 0 && !(part.limit >= 0)) continue;
        parts_.push_back(part);
        names_.push_back(part.key);
    }
}

std::optional<double> Score::operator()(ServiceInstance const& instance,
                                        double const* values) const {
    double score = 1 + config_.base_weight_factor * log10_after(effective_weight(instance));
    if (is_in(instance, "region", config_.preferred_region)) score *= config_.region_boost;
    if (is_in(instance, "zone", config_.preferred_zone)) score *= config_.zone_boost;
    for (auto const& part : parts_) {
        auto const by = factor(part, *values++);
        if (!by) return std::nullopt;
        score *= *by;
    }
    if (std::isnan(score)) return std::nullopt;
    return score;
}

/// None: above the limit.
std::optional<double> Score::factor(Part const& part, double value) const {
    if (!(value >= 0)) return 1;
    if (part.limit >= 0 && value > part.limit) return std::nullopt;
    if (part.weight == 0) return 1;
    switch (part.shape) {
        case Shape::percent:
            return power(std::max(0.0, 1 - std::min(100.0, value) / 100), part.weight);
        case Shape::latency: {
            auto const target = std::max(1.0, config_.target_latency_ms);
            return power(target / (target + value), part.weight);
        }
        case Shape::count:
            break;
    }
    return power(1 / (1 + value), part.weight);
}

}  // namespace rollcall::streaming

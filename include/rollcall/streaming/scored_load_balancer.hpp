#pragma once

#include <memory>
#include <optional>
#include <string>

#include "rollcall/streaming/load_balancer.hpp"
#include "rollcall/streaming/metrics_provider.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What makes a candidate better or worse than another. Source: seed 000, "Configuration"; spec
/// 11.4 and 11.5 have the formula.
struct LoadBalancerConfig {
    double base_weight_factor = 1.0;
    double cpu_weight = 1.0;
    double latency_weight = 1.0;
    double target_latency_ms = 50.0;
    /// Compared with the metadata entries `region` and `zone`.
    std::optional<std::string> preferred_region = {};
    std::optional<std::string> preferred_zone = {};
    double region_boost = 1.1;
    double zone_boost = 1.05;
    double memory_weight = 0;
    double inflight_weight = 0;
    double queue_weight = 0;
    double error_rate_weight = 0;
    std::string cpu_key = "cpu";
    std::string latency_key = "latency";
    std::string memory_key = "memory";
    std::string inflight_key = "inflight";
    std::string queue_key = "queue";
    std::string error_rate_key = "errorRate";
    /// Who is above one of these is out. Negative: no limit.
    double max_cpu_percent = -1;
    double max_latency_ms = -1;
    double max_memory_percent = -1;
    double max_inflight = -1;
    double max_queue = -1;
    double max_error_rate_percent = -1;
    /// Nobody is chosen when limits leave nobody, a single candidate included. In the design limits
    /// do not count for that one, and of several who are all out the first is chosen.
    bool none_when_all_excluded = false;
};

/// Chooses the candidate with the highest score, of equals the first. Source: seed 000, "Load
/// Balancing".
///
/// Cost: computes every score afresh; allocates nothing while the provider has what it is asked
/// for. What the provider throws passes through. Thread safety: all members, if the provider's are.
class ScoredLoadBalancer final : public LoadBalancer {
public:
    /// Without a provider nothing is measured.
    explicit ScoredLoadBalancer(LoadBalancerConfig config = {},
                                std::shared_ptr<MetricsProvider> metrics = nullptr);
    ~ScoredLoadBalancer() override;
    ScoredLoadBalancer(ScoredLoadBalancer const&) = delete;
    ScoredLoadBalancer& operator=(ScoredLoadBalancer const&) = delete;

    ServiceInstance const* choose(std::string_view service_name,
                                  std::span<ServiceInstance const> candidates,
                                  ChooseOptions const& options) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#pragma once

#include "rollcall/streaming/load_balancer.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Chooses at random, in proportion to the weights. Source: seed 000, "Load Balancing".
///
/// Cost: looks at every candidate once; allocates nothing, keeps nothing. Thread safety: all
/// members.
class WeightedRandomLoadBalancer final : public LoadBalancer {
public:
    ServiceInstance const* choose(std::string_view service_name,
                                  std::span<ServiceInstance const> candidates,
                                  ChooseOptions const& options) override;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#pragma once

#include <memory>

#include "rollcall/streaming/load_balancer.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Smooth weighted round robin: of 5, 1, 1 `a a b a c a a`. Source: seed 000, "Load Balancing".
///
/// The design's sequence for a list of candidates (ids and weights, in order) that does not change,
/// as the first thread that chooses from it goes through it; other threads, and lists that come
/// later, begin elsewhere in theirs, so that neither many threads nor candidates that come and go
/// favour anybody. Lists of a service, such as those of two filters, do not disturb each other: the
/// last eight are remembered, of a thousand services. Who is excluded loses a turn.
///
/// Cost: compares the candidates with those of the last time; a table then tells, or, where weights
/// have no short period (candidates × sum / common divisor above 65,536), a step for each
/// candidate. Allocates nothing once a list and a thread are known. Thread safety: all members.
class WeightedRoundRobinLoadBalancer final : public LoadBalancer {
public:
    WeightedRoundRobinLoadBalancer();
    ~WeightedRoundRobinLoadBalancer() override;
    WeightedRoundRobinLoadBalancer(WeightedRoundRobinLoadBalancer const&) = delete;
    WeightedRoundRobinLoadBalancer& operator=(WeightedRoundRobinLoadBalancer const&) = delete;

    ServiceInstance const* choose(std::string_view service_name,
                                  std::span<ServiceInstance const> candidates,
                                  ChooseOptions const& options) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

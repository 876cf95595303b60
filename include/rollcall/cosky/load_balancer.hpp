#pragma once

#include <memory>
#include <string_view>
#include <system_error>

#include "rollcall/choice.hpp"
#include "rollcall/cosky/consistency_service_discovery.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Chooses one instance of a service. Source: seed 003, "Load Balancing"; spec 9.
///
/// From what the discovery shows at that moment: the list and what is drawn from are one and the
/// same, and follow every event at once. What has expired is not chosen; what Redis may have lost
/// only if nobody else is there. Weights of 0 and less count as 0, and their sum never overflows.
///
/// Cost: once the service is loaded some look-ups and random numbers, whatever the number and the
/// weights of the instances; no lock, no allocation. Errors: as of
/// `ConsistencyRedisServiceDiscovery::instances`; they are not remembered. Thread safety: all
/// members, from any thread. Lifetime: keeps the discovery.
class LoadBalancer {
public:
    virtual ~LoadBalancer() = default;

    /// None when nobody may be chosen.
    virtual Choice choose(std::string_view ns, std::string_view service) = 0;
    virtual Choice choose(std::string_view ns, std::string_view service,
                          std::error_code& error) = 0;
};

/// Chooses each with the same probability, whatever its weight, save 0: such an instance is
/// drained, and chosen only where all are.
class RandomLoadBalancer final : public LoadBalancer {
public:
    /// Errors (this and the others): `std::invalid_argument` without a discovery.
    explicit RandomLoadBalancer(std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery);
    Choice choose(std::string_view ns, std::string_view service) override;
    Choice choose(std::string_view ns, std::string_view service, std::error_code& error) override;

private:
    std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery_;
};

/// What the three balancers by weight have in common here, which is all: each instance is chosen
/// with its share in the sum of the weights, and where all are 0, nobody. In the design they differ
/// in how they draw.
class WeightRandomLoadBalancer : public LoadBalancer {
public:
    Choice choose(std::string_view ns, std::string_view service) override;
    Choice choose(std::string_view ns, std::string_view service, std::error_code& error) override;

protected:
    explicit WeightRandomLoadBalancer(std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery);

private:
    std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery_;
};

class ArrayWeightRandomLoadBalancer final : public WeightRandomLoadBalancer {
public:
    explicit ArrayWeightRandomLoadBalancer(
        std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery);
};

/// The default of the design.
class BinaryWeightRandomLoadBalancer final : public WeightRandomLoadBalancer {
public:
    explicit BinaryWeightRandomLoadBalancer(
        std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery);
};

class TreeWeightRandomLoadBalancer final : public WeightRandomLoadBalancer {
public:
    explicit TreeWeightRandomLoadBalancer(
        std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery);
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

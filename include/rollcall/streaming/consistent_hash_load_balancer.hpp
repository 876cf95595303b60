#pragma once

#include <memory>

#include "rollcall/streaming/load_balancer.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Gives equal keys to the same candidate, and few keys to another when candidates come or go.
/// Source: seed 000, "Load Balancing".
///
/// On the design's ring (MD5 of `service:id#0`, `service:id#1`, …), so that it chooses what a Java
/// program chooses. The key is `ChooseOptions::key`, numbers in decimal; without one, and for the
/// key `null`, the first candidate is chosen, as there. Who is excluded is passed over on the ring:
/// keys of others stay where they are. Weights do not count.
///
/// The ring of a list of candidates is made once; one that differs in few of them from a list that
/// is remembered takes over the rest. The last four lists of a service are remembered, of a
/// thousand services, within 256 MB.
///
/// Cost: compares the candidates with those of the last time, then a hash of the key and a look-up
/// that does not depend on their number; allocates nothing once the list is known. Thread safety:
/// all members.
class ConsistentHashLoadBalancer final : public LoadBalancer {
public:
    static constexpr int default_virtual_nodes = 128;
    static constexpr int max_virtual_nodes = 65'536;

    /// Of each candidate; less than 1 counts as 1, as in the design. Errors:
    /// `std::invalid_argument` above `max_virtual_nodes`.
    explicit ConsistentHashLoadBalancer(int virtual_nodes = default_virtual_nodes);
    ~ConsistentHashLoadBalancer() override;
    ConsistentHashLoadBalancer(ConsistentHashLoadBalancer const&) = delete;
    ConsistentHashLoadBalancer& operator=(ConsistentHashLoadBalancer const&) = delete;

    ServiceInstance const* choose(std::string_view service_name,
                                  std::span<ServiceInstance const> candidates,
                                  ChooseOptions const& options) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

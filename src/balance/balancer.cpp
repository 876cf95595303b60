#include "rollcall/balancer.hpp"

namespace rollcall {
namespace {

constexpr std::string_view names[] = {
    "weighted-random", "round-robin", "least-outstanding", "lowest-latency", "consistent-hash",
};
static_assert(std::size(names) == std::variant_size_v<Balancer>);

}  // namespace

std::string_view name(Balancer const& balancer) noexcept { return names[balancer.index()]; }

std::optional<Balancer> find_balancer(std::string_view name) noexcept {
    for (Balancer const& balancer :
         {Balancer{WeightedRandom{}}, Balancer{RoundRobin{}}, Balancer{LeastOutstanding{}},
          Balancer{LowestLatency{}}, Balancer{ConsistentHash{}}}) {
        if (rollcall::name(balancer) == name) return balancer;
    }
    return std::nullopt;
}

}  // namespace rollcall

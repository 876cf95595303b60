#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rollcall/streaming/load_balancer.hpp"

namespace rollcall::streaming::test {

using Instances = std::vector<ServiceInstance>;

inline ServiceInstance candidate(std::string_view id, int weight = 1,
                                 std::string_view service = "svc") {
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id;
    instance.weight = weight;
    return instance;
}

/// Instances `i1`, `i2`, … of these weights.
inline Instances weighted(std::vector<int> const& weights) {
    Instances made;
    for (auto const weight : weights) {
        made.push_back(candidate("i" + std::to_string(made.size() + 1), weight));
    }
    return made;
}

/// The id; empty for none.
inline std::string choose(LoadBalancer& balancer, Instances const& candidates,
                          ChooseOptions const& options = {}) {
    auto const* const chosen = balancer.choose("svc", candidates, options);
    return chosen == nullptr ? std::string{} : chosen->instance_id;
}

inline std::vector<std::string> choose_often(LoadBalancer& balancer, Instances const& candidates,
                                             std::size_t times, ChooseOptions const& options = {}) {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < times; ++i) chosen.push_back(choose(balancer, candidates, options));
    return chosen;
}

}  // namespace rollcall::streaming::test

#include "rollcall/streaming/metrics_provider.hpp"

#include <limits>

namespace rollcall::streaming {

void MetricsProvider::read(std::string_view service_name,
                           std::span<ServiceInstance const> candidates,
                           std::span<std::string_view const> names, std::span<double> values) {
    auto value = values.begin();
    for (auto const& candidate : candidates) {
        auto const known = metrics(service_name, candidate.instance_id);
        for (auto const name : names) {
            auto const found = known.find(name);
            *value++ =
                found == known.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
        }
    }
}

}  // namespace rollcall::streaming

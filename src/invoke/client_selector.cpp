#include "rollcall/streaming/client_selector.hpp"

namespace rollcall::streaming {

std::optional<ServiceInstance> ClientSelector::select(std::string_view service_name,
                                                      Filters const& metadata,
                                                      Filters const& metrics,
                                                      LoadBalancer& balancer,
                                                      ChooseOptions const& options) const {
    auto const found = candidates(service_name, metadata, metrics);
    if (found.empty()) return std::nullopt;
    auto const* chosen = balancer.choose(service_name, found, options);
    return chosen ? std::optional{*chosen} : std::nullopt;
}

Instances ClientSelector::candidates(std::string_view service_name, Filters const& metadata,
                                     Filters const& metrics) const {
    auto found = source_->healthy_instances_by_filters(service_name, metadata, metrics);
    if (!found.empty() || !config_.enable_fallback) return found;
    bool const by_both = !metadata.empty() && !metrics.empty();
    if (config_.fallback_drop_metrics_filters_first && by_both) {
        found = source_->healthy_instances_by_filters(service_name, metadata, {});
    }
    if (found.empty() && config_.fallback_drop_metadata_filters_next && by_both) {
        found = source_->healthy_instances_by_filters(service_name, {}, metrics);
    }
    bool const by_any = !metadata.empty() || !metrics.empty();
    // Without filters, dropping those of one kind asks for all that are healthy.
    bool const all = config_.fallback_use_all_healthy_last ||
                     (config_.fallback_drop_metrics_filters_first && metadata.empty()) ||
                     (config_.fallback_drop_metadata_filters_next && metrics.empty());
    if (found.empty() && all && by_any) {
        found = source_->healthy_instances_by_filters(service_name, {}, {});
    }
    return found;
}

}  // namespace rollcall::streaming

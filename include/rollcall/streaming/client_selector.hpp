#pragma once

#include <optional>
#include <string_view>

#include "rollcall/choose_options.hpp"
#include "rollcall/streaming/filter_builder.hpp"
#include "rollcall/streaming/instance_source.hpp"
#include "rollcall/streaming/load_balancer.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What is asked for when no instance matches all filters.
struct ClientSelectorConfig {
    bool enable_fallback = true;  ///< False: nothing, whatever the others say.
    /// First those that match the metadata filters,
    bool fallback_drop_metrics_filters_first = true;
    /// next those that match the metrics filters,
    bool fallback_drop_metadata_filters_next = true;
    /// last all that are healthy.
    bool fallback_use_all_healthy_last = true;
};

/// Finds instances that match, or the best there are, and chooses one of them. Source: spec 13.1.
///
/// Cost: what one list by filters costs, and as much for each fallback; one that would ask the same
/// again is left out.
/// Errors: those of the source; a failure is never taken for an empty list.
/// Thread safety: all members, from any thread, if source and balancer are.
/// Lifetime: the source outlives it.
class ClientSelector {
public:
    explicit ClientSelector(InstanceSource& source, ClientSelectorConfig config = {})
        : source_(&source), config_(config) {}

    /// One of `candidates`; none when there are none, or when the balancer chooses none.
    std::optional<ServiceInstance> select(std::string_view service_name, Filters const& metadata,
                                          Filters const& metrics, LoadBalancer& balancer,
                                          ChooseOptions const& options = {}) const;

    /// The first list that is not empty.
    Instances candidates(std::string_view service_name, Filters const& metadata,
                         Filters const& metrics) const;

    ClientSelectorConfig const& config() const noexcept { return config_; }

private:
    InstanceSource* source_;
    ClientSelectorConfig config_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

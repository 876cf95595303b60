#pragma once

#include <string_view>
#include <vector>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/filter_builder.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

using Instances = std::vector<ServiceInstance>;

/// Where a `ClientSelector` finds instances: any `ServiceConsumer` or `NamingService`, or what
/// stands in for one in a test.
class InstanceSource {
public:
    virtual ~InstanceSource() = default;

    /// The enabled and healthy instances that match all filters; without filters all of those.
    virtual Instances healthy_instances_by_filters(std::string_view service_name,
                                                   Filters const& metadata,
                                                   Filters const& metrics) = 0;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

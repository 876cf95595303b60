#pragma once

#include <span>
#include <string_view>

#include "rollcall/choose_options.hpp"
#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Chooses one of several instances. Source: seed 000, "Load Balancing".
///
/// The weight of an instance is its metadata entry `weight` if that is a whole number, else
/// `ServiceInstance::weight`; less than 1 counts as 1. A single candidate is chosen whatever it is.
class LoadBalancer {
public:
    virtual ~LoadBalancer() = default;

    /// One of `candidates`, which the result points into; null when there are none, or all are
    /// excluded. `options.key` takes the place of the design's `hashKey`.
    virtual ServiceInstance const* choose(std::string_view service_name,
                                          std::span<ServiceInstance const> candidates,
                                          ChooseOptions const& options) = 0;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

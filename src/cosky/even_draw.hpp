#pragma once

#include "balance/random.hpp"
#include "registry/live/instance_table.hpp"

namespace rollcall::cosky {

/// One of those that may get traffic, each with the same probability; where all have the weight 0,
/// one of all. None of an empty table.
///
/// Cost: a few random numbers. Where few of many may be chosen, a look at all.
ServiceInstance const* draw_evenly(live::InstanceTable const& table,
                                   balance::Random& random) noexcept;

}  // namespace rollcall::cosky

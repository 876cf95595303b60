#pragma once

#include <string_view>

#include "rollcall/streaming/metrics_provider.hpp"

namespace rollcall::streaming {

/// The numbers in a JSON object, also those that are given as texts; of anything else, and of what
/// is no object, nothing. Any bytes may be given. Source: spec 11.4, 11.6.
Metrics read_metrics(std::string_view text);

}  // namespace rollcall::streaming

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/streaming/config.hpp"

namespace rollcall::streaming {

struct StreamingPortOptions {
    std::string prefix{default_key_prefix};
    /// The heartbeat timeout of the prefix: whole seconds, from 1 s to ten years.
    std::chrono::milliseconds lease{90'000};
};

/// Errors: `std::invalid_argument` for an option.
void validate(StreamingPortOptions const& options);

/// This layout behind the neutral port. Errors: `std::invalid_argument` for an option.
///
/// A heartbeat of the port is the design's `heartbeat_only`: every call writes, nothing is skipped.
std::unique_ptr<LayoutPort> make_streaming_port(std::shared_ptr<redis::ClientCore> core,
                                                StreamingPortOptions const& options);

}  // namespace rollcall::streaming

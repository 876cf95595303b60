#pragma once

#include <chrono>
#include <string>

#include "rollcall/streaming/health_checker.hpp"

namespace rollcall::health {

using streaming::HealthCheckerOptions;

/// With every time in its range: 5 seconds for 0 and below, an hour at most.
HealthCheckerOptions within_range(HealthCheckerOptions options);

/// Where an instance is asked: its own host and port, and nothing of its metadata.
struct Target {
    std::string host;
    int port = 0;
    std::string failure;  ///< Why nobody can be asked; else empty.
};

Target target_of(ServiceInstance const& instance);

enum class Question { connect, http, https };

/// What `StandardHealthChecker` asks an instance of that scheme.
Question question_for(std::string_view scheme);

}  // namespace rollcall::health

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/instance.hpp"

namespace rollcall::cli {

/// What a duration may be; both bounds are allowed values.
struct DurationRange {
    std::chrono::milliseconds least{1};
    std::chrono::milliseconds most = std::chrono::hours{24 * 30};
    bool whole_seconds = false;
};

/// `400ms`, `10s`, `2m`, `1h30m`, `7d`; a bare number counts seconds.
///
/// `name` is the option, variable or key for messages. Errors, also of the functions below:
/// `UsageError`.
std::chrono::milliseconds parse_duration(std::string_view name, std::string_view text,
                                         DurationRange const& range = {});

/// A duration in the largest units that show it exactly: `1h30m`, `400ms`.
std::string format_duration(std::chrono::milliseconds duration);

/// A decimal integer within bounds.
std::int64_t parse_integer(std::string_view name, std::string_view text, std::int64_t least,
                           std::int64_t most);

int parse_port(std::string_view name, std::string_view text);
int parse_weight(std::string_view name, std::string_view text);

/// `KEY=VALUE` each, split at the first `=`; a key twice is an error.
Metadata parse_metadata(std::string_view name, std::vector<std::string> const& pairs);

}  // namespace rollcall::cli

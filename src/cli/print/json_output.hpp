#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "registry/layout_port.hpp"

namespace rollcall::cli {

/// Foreign text as a JSON string: bytes that are not UTF-8 become U+FFFD.
boost::json::value json_text(std::string_view text);

/// One JSON document on one line, ended by LF: valid UTF-8, with what a terminal could act on
/// written as `\uXXXX`.
std::string to_document(boost::json::value const& value);

/// `2025-11-30T03:28:00.123Z`
std::string iso_time(std::chrono::system_clock::time_point time);

/// One element of what `list` prints.
boost::json::value instance_json(Found const& found);
/// The shape of `list`.
boost::json::value instances_json(std::span<Found const> instances);

}  // namespace rollcall::cli

#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <string>

#include "rollcall/change.hpp"

namespace rollcall::cli {

/// What `watch` prints of a change, as a line in columns under a heading.
std::string change_heading();
std::string change_line(std::string const& service, Change const& change,
                        std::chrono::system_clock::time_point at);

/// What `watch` prints of a change with `--output json`.
boost::json::value change_json(std::string const& service, Change const& change,
                               std::chrono::system_clock::time_point at);

}  // namespace rollcall::cli

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "rollcall/instance.hpp"

namespace rollcall::test {

namespace json = boost::json;

/// What `tests/data/<file>.json` holds.
json::value document(std::string_view file);

/// The rows of one section of `tests/data/<file>.json`. Fails the test, and gives none, when there
/// is no such section.
json::array rows(std::string_view file, std::string_view section);

/// A text of the data files: a string, or parts with repetitions.
std::string text(json::value const& value);

/// Member `name` as text; `otherwise` when it is missing or null.
std::string text(json::object const& row, std::string_view name, std::string_view otherwise = "");

Metadata metadata(json::value const& value);

/// `row`'s members over the defaults of `ServiceInstance`.
ServiceInstance instance(json::object const& row);

}  // namespace rollcall::test

// For the trace of a failure: which row it was, as far as a line can tell.
#define TRACE_ROW(row) SCOPED_TRACE(::boost::json::serialize(row).substr(0, 400))

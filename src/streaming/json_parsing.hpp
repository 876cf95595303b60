#pragma once

#include <boost/json/parse_options.hpp>

namespace rollcall::streaming {

/// How stored JSON is read: whatever another writer may have taken for JSON, to a bounded depth.
inline boost::json::parse_options stored_json_options() {
    boost::json::parse_options options;
    options.max_depth = 100;
    options.numbers = boost::json::number_precision::precise;
    options.allow_invalid_utf16 = true;
    return options;
}

}  // namespace rollcall::streaming

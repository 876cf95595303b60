#pragma once

#include <string>
#include <string_view>

#include "support/vectors.hpp"

namespace rollcall::streaming::test {

namespace json = boost::json;
using rollcall::test::instance;
using rollcall::test::metadata;
using rollcall::test::text;

/// The rows of one section of `tests/data/streaming/<file>.json`.
inline json::array rows(std::string_view file, std::string_view section) {
    return rollcall::test::rows("streaming/" + std::string{file}, section);
}

}  // namespace rollcall::streaming::test

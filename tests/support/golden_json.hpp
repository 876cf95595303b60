#pragma once

#include <string>
#include <string_view>

namespace rollcall::test::golden {

/// Whether two JSON documents are the same bytes once the members of every object are put in
/// order: escapes and the text of numbers count. What is not JSON is compared as bytes.
bool same_but_for_order(std::string_view left, std::string_view right);

/// Whether two JSON documents have the same values: numbers by value, members in any order, escapes
/// resolved. What is not JSON is compared as bytes.
bool same_by_value(std::string_view left, std::string_view right);

/// `text` as a quoted argument of the recordings' format.
std::string in_quotes(std::string_view text);

}  // namespace rollcall::test::golden

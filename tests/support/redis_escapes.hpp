#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rollcall::test {

/// The character that an escape of Redis' quoted text stands for, as in MONITOR and redis-cli. `at`
/// is the backslash and becomes the last character of the escape. None: malformed.
std::optional<char> unescape(std::string_view text, std::size_t& at);

}  // namespace rollcall::test

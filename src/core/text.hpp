#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace rollcall {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// `text`, with each ill-formed part replaced by U+FFFD: what a Java reader makes of the bytes.
std::string to_utf8(std::string_view text);
void append_utf8(std::string& out, std::string_view text);

/// Decodes the code point that begins at `at` and moves `at` behind it. An ill-formed part gives
/// U+FFFD and is passed over as a whole. Expects `at < text.size()`.
char32_t next_code_point(std::string_view text, std::size_t& at) noexcept;

void append_code_point(std::string& out, char32_t code_point);

/// Without the characters up to U+0020 at both ends: Java's `trim`.
std::string_view trim(std::string_view text) noexcept;
inline bool is_blank(std::string_view text) noexcept { return trim(text).empty(); }

bool is_white_space(char32_t code_point) noexcept;  ///< Also no-break and other wide spaces.
/// Characters that drive a terminal or reorder a line instead of standing in it: C0, DEL, C1,
/// bidirectional controls, byte order mark.
bool is_control(char32_t code_point) noexcept;

/// ASCII letters in lower case, all else as it is.
constexpr char lower_case(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
std::string lower_case(std::string_view text);

std::string joined(std::initializer_list<std::string_view> parts);

/// Fit for a message of one line on any terminal: in double quotes, controls and ill-formed bytes
/// escaped, long text shortened.
std::string shown(std::string_view text);

/// Throws `std::invalid_argument` with `field`, the value and the rule that it breaks, such as
/// `host "a b": must not contain white space`.
[[noreturn]] void refuse(std::string_view field, std::string_view value, std::string_view rule);
[[noreturn]] void refuse(std::string_view field, long long value, std::string_view rule);

}  // namespace rollcall

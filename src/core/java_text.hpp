#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rollcall {

/// A number as Java's `Double.toString` and `Float.toString` write it: `45.5`, `1.0`, `1.0E20`,
/// `1.0E-5`, `-0.0`, `NaN`, `Infinity`; the fewest digits that give back the same number.
std::string java_text(double value);
std::string java_text(float value);

/// As Java's `Integer.parseInt` and `Long.parseLong`: an optional sign and decimal digits, nothing
/// else, within the type's range.
std::optional<int> parse_java_int(std::string_view text) noexcept;
std::optional<std::int64_t> parse_java_long(std::string_view text) noexcept;

/// As Java's `Boolean.parseBoolean`: `true`, ignoring case; anything else is false.
bool parse_java_bool(std::string_view text) noexcept;

}  // namespace rollcall

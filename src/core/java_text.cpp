#include "core/java_text.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "core/protocol_table.hpp"

namespace rollcall {
namespace {

/// A finite number above zero: `digits[0].digits[1…] × 10^exponent`.
struct Decimal {
    std::string digits;
    int exponent;
};

template <class T>
Decimal shortest(T value) {
    char buffer[64];
    auto* const end = buffer + sizeof buffer;
    auto written = std::to_chars(buffer, end, value, std::chars_format::scientific);
    // Java never gives a single digit: of the two-digit numbers it takes the nearest.
    if (buffer[1] != '.') {
        written = std::to_chars(buffer, end, value, std::chars_format::scientific, 1);
    }
    std::string_view const text{buffer, static_cast<std::size_t>(written.ptr - buffer)};
    auto const e = text.find('e');
    Decimal decimal{std::string{text.substr(0, 1)}, 0};
    decimal.digits += text.substr(2, e - 2);
    auto const* exponent = text.data() + e + 1;
    if (*exponent == '+') ++exponent;
    std::from_chars(exponent, text.data() + text.size(), decimal.exponent);
    return decimal;
}

std::string without_exponent(Decimal const& decimal) {
    auto const& digits = decimal.digits;
    if (decimal.exponent < 0) {
        return "0." + std::string(static_cast<std::size_t>(-decimal.exponent - 1), '0') + digits;
    }
    auto const whole = static_cast<std::size_t>(decimal.exponent) + 1;
    if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0') + ".0";
    return digits.substr(0, whole) + '.' + digits.substr(whole);
}

template <class T>
std::string text_of(T value) {
    if (std::isnan(value)) return "NaN";
    std::string const sign = std::signbit(value) ? "-" : "";
    value = std::abs(value);
    if (std::isinf(value)) return sign + "Infinity";
    if (value == 0) return sign + "0.0";
    auto decimal = shortest(value);
    if (value >= static_cast<T>(1e-3) && value < static_cast<T>(1e7)) {
        // A trailing zero is there for the single digit only.
        if (decimal.digits.size() == 2 && decimal.digits[1] == '0') decimal.digits.pop_back();
        return sign + without_exponent(decimal);
    }
    return sign + decimal.digits.substr(0, 1) + '.' + decimal.digits.substr(1) + 'E' +
           std::to_string(decimal.exponent);
}

template <class T>
std::optional<T> parse(std::string_view text) noexcept {
    // `from_chars` takes a minus sign, but no plus sign.
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    T value{};
    auto const* const begin = text.data();
    auto const* const end = begin + text.size();
    auto const [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

}  // namespace

std::string java_text(double value) { return text_of(value); }
std::string java_text(float value) { return text_of(value); }

std::optional<int> parse_java_int(std::string_view text) noexcept { return parse<int>(text); }

std::optional<std::int64_t> parse_java_long(std::string_view text) noexcept {
    return parse<std::int64_t>(text);
}

bool parse_java_bool(std::string_view text) noexcept {
    return text == "true" || equal_ignoring_case(text, "true");
}

}  // namespace rollcall

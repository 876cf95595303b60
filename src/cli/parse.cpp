#include "cli/parse.hpp"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "cli/exit_code.hpp"
#include "core/checks.hpp"

namespace rollcall::cli {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
};

// From large to small: the order in which they may follow each other.
constexpr Unit units[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1},
};

std::string_view take_digits(std::string_view& text) {
    auto const end = std::min(text.find_first_not_of("0123456789"), text.size());
    auto const digits = text.substr(0, end);
    text.remove_prefix(end);
    return digits;
}

std::string_view take_letters(std::string_view& text) {
    auto const end = std::min(text.find_first_of("0123456789"), text.size());
    auto const letters = text.substr(0, end);
    text.remove_prefix(end);
    return letters;
}

std::optional<std::int64_t> to_integer(std::string_view digits) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return {};
    return value;
}

/// None for what is malformed or too large to count.
std::optional<std::int64_t> to_milliseconds(std::string_view text) {
    std::int64_t sum = 0;
    auto const* next_unit = std::begin(units);
    bool const bare = text.find_first_not_of("0123456789") == std::string_view::npos;
    if (text.empty()) return {};
    while (!text.empty()) {
        auto const number = to_integer(take_digits(text));
        auto const name = bare ? "s" : take_letters(text);
        while (next_unit != std::end(units) && next_unit->name != name) ++next_unit;
        if (!number || next_unit == std::end(units)) return {};
        std::int64_t part = 0;
        if (__builtin_mul_overflow(*number, next_unit->milliseconds, &part) ||
            __builtin_add_overflow(sum, part, &sum)) {
            return {};
        }
        ++next_unit;
    }
    return sum;
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view name, std::string_view text,
                                         DurationRange const& range) {
    auto const count = to_milliseconds(text);
    std::chrono::milliseconds const duration{count.value_or(0)};
    bool const whole = duration % std::chrono::seconds{1} == std::chrono::milliseconds{};
    if (count && duration >= range.least && duration <= range.most &&
        (whole || !range.whole_seconds)) {
        return duration;
    }
    throw UsageError{
        name, text,
        fmt::format("must be a duration such as {}10s, 2m or 1h30m, from {} to {}{}",
                    range.whole_seconds ? "" : "400ms, ", format_duration(range.least),
                    format_duration(range.most), range.whole_seconds ? ", in whole seconds" : "")};
}

std::string format_duration(std::chrono::milliseconds duration) {
    auto rest = duration.count();
    if (rest <= 0) return "0s";
    std::string text;
    for (auto const& unit : units) {
        if (rest >= unit.milliseconds) {
            text += std::to_string(rest / unit.milliseconds);
            text += unit.name;
            rest %= unit.milliseconds;
        }
    }
    return text;
}

std::int64_t parse_integer(std::string_view name, std::string_view text, std::int64_t least,
                           std::int64_t most) {
    auto const value = to_integer(text);
    if (value && *value >= least && *value <= most) return *value;
    throw UsageError{name, text, fmt::format("must be an integer from {} to {}", least, most)};
}

int parse_port(std::string_view name, std::string_view text) {
    return static_cast<int>(parse_integer(name, text, 0, 65'535));
}

int parse_weight(std::string_view name, std::string_view text) {
    return static_cast<int>(parse_integer(name, text, 0, largest_weight));
}

Metadata parse_metadata(std::string_view name, std::vector<std::string> const& pairs) {
    Metadata metadata;
    for (auto const& pair : pairs) {
        auto const equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw UsageError{name, pair, "must be KEY=VALUE with a key before the first '='"};
        }
        if (!metadata.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
            throw UsageError{name, pair, "this key was given before"};
        }
    }
    return metadata;
}

}  // namespace rollcall::cli

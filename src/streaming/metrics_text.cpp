#include "streaming/metrics_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "core/text.hpp"
#include "streaming/admin_values.hpp"

namespace rollcall::streaming {
namespace {

std::optional<double> number_in(std::string_view text) noexcept {
    text = trim(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::optional<double> number(AdminValue const& value) noexcept {
    if (auto const* const integer = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*integer);
    }
    if (auto const* const real = std::get_if<double>(&value)) return *real;
    if (auto const* const text = std::get_if<std::string>(&value)) return number_in(*text);
    return std::nullopt;
}

}  // namespace

Metrics read_metrics(std::string_view text) {
    Metrics metrics;
    auto const values = read_admin_values(text);
    if (!values) return metrics;
    for (auto const& [name, value] : *values) {
        if (auto const found = number(value)) metrics.emplace_hint(metrics.end(), name, *found);
    }
    return metrics;
}

}  // namespace rollcall::streaming

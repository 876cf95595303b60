#include "streaming/filter_document.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "streaming/json_text.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::array comparisons{Comparison::eq, Comparison::ne, Comparison::gt,
                                 Comparison::ge, Comparison::lt, Comparison::le};

void check(Filters const& filters) {
    for (auto const& [key, value] : filters) {
        if (!is_utf8(key)) refuse("filter key", key, "must be UTF-8");
        if (!is_utf8(value)) refuse("filter value", value, "must be UTF-8");
    }
}

/// The values that stand with the key of `filters[index]`; none unless that is its first use.
std::vector<std::string_view> values_of(Filters const& filters, std::size_t index) {
    auto const& key = filters[index].first;
    std::vector<std::string_view> values;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        if (filters[i].first != key) continue;
        if (i < index) return {};
        values.push_back(filters[i].second);
    }
    return values;
}

void append_section(std::string& out, std::string_view name, Filters const& filters) {
    append_json_name(out, name);
    out += '{';
    bool first = true;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        auto const values = values_of(filters, i);
        if (values.empty()) continue;
        if (!first) out += ',';
        first = false;
        append_json_string(out, filters[i].first);
        out += values.size() == 1 ? ":" : ":[";
        for (std::size_t v = 0; v < values.size(); ++v) {
            if (v > 0) out += ',';
            append_json_string(out, values[v]);
        }
        if (values.size() > 1) out += ']';
    }
    out += '}';
}

}  // namespace

FilterKey parse_filter_key(std::string_view key) noexcept {
    auto const colon = key.rfind(':');
    if (colon != std::string_view::npos) {
        for (auto const comparison : comparisons) {
            if (key.substr(colon + 1) == symbol(comparison)) {
                return {key.substr(0, colon), comparison};
            }
        }
    }
    return {key, Comparison::eq};
}

std::string filter_key(std::string_view field, Comparison comparison) {
    std::string key{field};
    key += ':';
    key += symbol(comparison);
    return key;
}

std::string filter_document(Filters const& metadata, Filters const& metrics) {
    check(metadata);
    check(metrics);
    std::string out = "{";
    append_section(out, "metadata", metadata);
    append_section(out, "metrics", metrics);
    out += '}';
    return out;
}

}  // namespace rollcall::streaming

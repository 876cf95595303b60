#include "rollcall/streaming/filter_builder.hpp"

#include <algorithm>

#include "core/java_text.hpp"
#include "streaming/filter_document.hpp"

namespace rollcall::streaming {
namespace {

void put(Filters& filters, std::string_view field, Comparison comparison, std::string_view value) {
    auto key = filter_key(field, comparison);
    auto const found = std::ranges::find(filters, key, &Filters::value_type::first);
    if (found != filters.end()) {
        found->second = value;
    } else {
        filters.emplace_back(std::move(key), value);
    }
}

}  // namespace

FilterNumber::FilterNumber(double value) : text_(java_text(value)) {}
FilterNumber::FilterNumber(float value) : text_(java_text(value)) {}

FilterBuilder& FilterBuilder::metadata_eq(std::string_view field, std::string_view value) {
    put(metadata_, field, Comparison::eq, value);
    return *this;
}

FilterBuilder& FilterBuilder::metadata_ne(std::string_view field, std::string_view value) {
    put(metadata_, field, Comparison::ne, value);
    return *this;
}

FilterBuilder& FilterBuilder::metadata_gt(std::string_view field, FilterNumber const& value) {
    put(metadata_, field, Comparison::gt, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metadata_gte(std::string_view field, FilterNumber const& value) {
    put(metadata_, field, Comparison::ge, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metadata_lt(std::string_view field, FilterNumber const& value) {
    put(metadata_, field, Comparison::lt, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metadata_lte(std::string_view field, FilterNumber const& value) {
    put(metadata_, field, Comparison::le, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metrics_eq(std::string_view field, std::string_view value) {
    put(metrics_, field, Comparison::eq, value);
    return *this;
}

FilterBuilder& FilterBuilder::metrics_ne(std::string_view field, std::string_view value) {
    put(metrics_, field, Comparison::ne, value);
    return *this;
}

FilterBuilder& FilterBuilder::metrics_gt(std::string_view field, FilterNumber const& value) {
    put(metrics_, field, Comparison::gt, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metrics_gte(std::string_view field, FilterNumber const& value) {
    put(metrics_, field, Comparison::ge, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metrics_lt(std::string_view field, FilterNumber const& value) {
    put(metrics_, field, Comparison::lt, value.text());
    return *this;
}

FilterBuilder& FilterBuilder::metrics_lte(std::string_view field, FilterNumber const& value) {
    put(metrics_, field, Comparison::le, value.text());
    return *this;
}

}  // namespace rollcall::streaming

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Filter keys with their expected values, all of which must hold. A key is a field, optionally
/// followed by `:` and one of `== != > >= < <=`; without an operator it means `==`. A key may occur
/// more than once.
using Filters = std::vector<std::pair<std::string, std::string>>;

/// A number as filters compare it: made from any arithmetic type, written as Java's
/// `String.valueOf` writes it (`10`, `0.5`, `1.0E21`).
class FilterNumber {
public:
    // NOLINTBEGIN(google-explicit-constructor): it is there to be made from numbers unasked.
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    FilterNumber(T value) : text_(std::to_string(value)) {}
    FilterNumber(double value);
    FilterNumber(float value);
    // NOLINTEND(google-explicit-constructor)

    std::string const& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// Builds filters for metadata and metrics. Values compare as numbers where both sides are numeric,
/// else as strings; an instance without the field never matches. Keys are in the order of their
/// first use; the same field and operator again replaces the value, as in the design's builder.
///
/// Source: seed 000, "Metadata / Metrics Filtering".
class FilterBuilder {
public:
    FilterBuilder& metadata_eq(std::string_view field, std::string_view value);
    FilterBuilder& metadata_ne(std::string_view field, std::string_view value);
    FilterBuilder& metadata_gt(std::string_view field, FilterNumber const& value);
    FilterBuilder& metadata_gte(std::string_view field, FilterNumber const& value);
    FilterBuilder& metadata_lt(std::string_view field, FilterNumber const& value);
    FilterBuilder& metadata_lte(std::string_view field, FilterNumber const& value);
    FilterBuilder& metrics_eq(std::string_view field, std::string_view value);
    FilterBuilder& metrics_ne(std::string_view field, std::string_view value);
    FilterBuilder& metrics_gt(std::string_view field, FilterNumber const& value);
    FilterBuilder& metrics_gte(std::string_view field, FilterNumber const& value);
    FilterBuilder& metrics_lt(std::string_view field, FilterNumber const& value);
    FilterBuilder& metrics_lte(std::string_view field, FilterNumber const& value);

    Filters const& metadata() const noexcept { return metadata_; }
    Filters const& metrics() const noexcept { return metrics_; }

private:
    Filters metadata_;
    Filters metrics_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

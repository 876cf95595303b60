#pragma once

#include <string>
#include <string_view>

#include "registry/condition.hpp"

#include "rollcall/streaming/filter_builder.hpp"

namespace rollcall::streaming {

struct FilterKey {
    std::string_view field;
    Comparison comparison = Comparison::eq;

    friend bool operator==(FilterKey const&, FilterKey const&) = default;
};

/// Takes a filter key apart: the text behind its last `:`, if it is exactly an operator, else the
/// whole key is the field. Any bytes may be given.
FilterKey parse_filter_key(std::string_view key) noexcept;

/// The key for a field and an operator, which is always written.
std::string filter_key(std::string_view field, Comparison comparison);

/// The argument of the query script: `{"metadata":{…},"metrics":{…}}`, always with both sections.
/// A key with several values has an array of them, all of which must hold.
///
/// Errors: `std::invalid_argument` for a key or value that is not UTF-8.
std::string filter_document(Filters const& metadata, Filters const& metrics);

}  // namespace rollcall::streaming

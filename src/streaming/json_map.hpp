#pragma once

#include <optional>
#include <string_view>

#include "rollcall/instance.hpp"

namespace rollcall::streaming {

/// The members of a JSON object as Java's readers turn them into text: strings as they are, numbers
/// and booleans in Java's form, objects as `{x=1, y=z}`, arrays as `[1, a, null]`. Members that are
/// null are left out; of members with the same name the last one counts; text behind the object is
/// ignored; ill-formed UTF-8 and lone surrogates become U+FFFD. None when `text` does not begin
/// with a JSON object. Any bytes may be given.
std::optional<Metadata> read_json_map(std::string_view text);

/// The same through the JSON parser alone: what `read_json_map` is tested against.
std::optional<Metadata> read_json_map_by_parser(std::string_view text);

/// The same for the usual case, a flat object of strings with simple escapes only; false, with
/// `out` in any state, for all others.
bool read_flat_json_map(std::string_view text, Metadata& out);

}  // namespace rollcall::streaming

#pragma once

#include <string>
#include <string_view>

#include "rollcall/instance.hpp"

namespace rollcall::streaming {

/// How characters outside the Basic Multilingual Plane are written. The design's program escapes
/// them as a surrogate pair in messages and leaves them alone in stored text.
enum class Astral { raw, escaped };

/// Appends `text` as a JSON string, written as the design's program does: `"` and `\` escaped,
/// control characters as `\b \t \n \f \r` or `\u001B` with upper-case digits; everything else,
/// `/` and DEL included, as it is; ill-formed UTF-8 as U+FFFD.
void append_json_string(std::string& out, std::string_view text, Astral astral = Astral::raw);

/// Appends `,"name":` or, right behind an opening brace, `"name":`. `name` needs no escapes.
void append_json_name(std::string& out, std::string_view name);

/// Appends `metadata` as a JSON object.
void append_json_object(std::string& out, Metadata const& metadata);

}  // namespace rollcall::streaming

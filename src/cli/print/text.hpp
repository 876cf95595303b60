#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rollcall::cli {

/// Whether a terminal may act on a character, or show nothing, instead of showing it: controls,
/// bidirectional and other format characters.
bool is_unprintable(char32_t code_point) noexcept;

/// `text` fit for one line of a terminal: what is unprintable or not UTF-8 becomes a visible
/// escape (`\n`, `\x1b`, `\u202e`).
std::string terminal_safe(std::string_view text);

/// How many columns `text` takes on a terminal; `text` comes from `terminal_safe`.
std::size_t columns(std::string_view text);

/// `text` without what stands between `://` and the last `@`: fit to be shown when it may hold the
/// password of a URL.
std::string without_credentials(std::string_view text);

}  // namespace rollcall::cli

#include "cli/print/text.hpp"

#include <cwchar>
#include <fmt/format.h>
#include <iterator>
#include <locale.h>

#include "core/text.hpp"

namespace rollcall::cli {

namespace {

/// Null where the C library has no such locale.
locale_t utf8_locale() {
    static locale_t const locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
}

/// The character types of UTF-8 for this thread, whatever the user's locale is.
class Utf8Characters {
public:
    Utf8Characters() : before_(utf8_locale() ? uselocale(utf8_locale()) : nullptr) {}
    ~Utf8Characters() {
        if (before_) uselocale(before_);
    }
    Utf8Characters(Utf8Characters const&) = delete;
    Utf8Characters& operator=(Utf8Characters const&) = delete;

private:
    locale_t before_;
};

/// Negative for what is not a character that has a width.
int width_of(char32_t c) { return c < 0x80 ? 1 : wcwidth(static_cast<wchar_t>(c)); }

void append_escape(std::string& to, char32_t c) {
    switch (c) {
        case '\t':
            to += "\\t";
            return;
        case '\n':
            to += "\\n";
            return;
        case '\r':
            to += "\\r";
            return;
        default:
            break;
    }
    auto const value = static_cast<unsigned>(c);
    if (value < 0x100) {
        fmt::format_to(std::back_inserter(to), "\\x{:02x}", value);
    } else {
        fmt::format_to(std::back_inserter(to), "\\u{:04x}", value);
    }
}

}  // namespace

bool is_unprintable(char32_t c) noexcept {
    auto const within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
    return is_control(c) || c == 0xAD || c == 0x180E || c == 0x200B || within(0x2060, 0x206F) ||
           within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

std::string terminal_safe(std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::string safe;
    safe.reserve(text.size());
    Utf8Characters const characters;
    for (std::size_t at = 0; at < text.size();) {
        auto const begin = at;
        auto const c = next_code_point(text, at);
        auto const bytes = text.substr(begin, at - begin);
        if (c == U'\uFFFD' && bytes != replacement) {
            for (char const byte : bytes) append_escape(safe, static_cast<unsigned char>(byte));
        } else if (is_unprintable(c) || width_of(c) < 0) {
            append_escape(safe, c);
        } else {
            safe += bytes;
        }
    }
    return safe;
}

std::size_t columns(std::string_view text) {
    std::size_t sum = 0;
    Utf8Characters const characters;
    for (std::size_t at = 0; at < text.size();) {
        auto const width = width_of(next_code_point(text, at));
        if (width > 0) sum += static_cast<std::size_t>(width);
    }
    return sum;
}

std::string without_credentials(std::string_view text) {
    auto const scheme = text.find("://");
    auto const at = text.rfind('@');
    if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme + 3) {
        return std::string{text};
    }
    return std::string{text.substr(0, scheme + 3)} + "…" + std::string{text.substr(at)};
}

}  // namespace rollcall::cli

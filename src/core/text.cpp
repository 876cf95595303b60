#include "core/text.hpp"

#include <stdexcept>

#include "core/text_scan.hpp"

namespace rollcall {
namespace {

constexpr char32_t replacement = U'\uFFFD';
constexpr std::size_t shown_limit = 80;  // Characters of a value that a message shows.

constexpr unsigned char byte(std::string_view text, std::size_t at) noexcept {
    return static_cast<unsigned char>(text[at]);
}

struct Decoded {
    char32_t code_point;
    std::size_t size;
    bool well_formed;
};

/// What a lead byte announces: how many bytes follow and the range of the first of them, which
/// excludes overlong forms, surrogates and what lies above U+10FFFF.
struct Lead {
    int following;
    unsigned char lowest;
    unsigned char highest;
};

constexpr Lead lead(unsigned char c) noexcept {
    if (c >= 0xC2 && c <= 0xDF) return {1, 0x80, 0xBF};
    if (c == 0xE0) return {2, 0xA0, 0xBF};
    if (c == 0xED) return {2, 0x80, 0x9F};
    if (c >= 0xE1 && c <= 0xEF) return {2, 0x80, 0xBF};
    if (c == 0xF0) return {3, 0x90, 0xBF};
    if (c >= 0xF1 && c <= 0xF3) return {3, 0x80, 0xBF};
    if (c == 0xF4) return {3, 0x80, 0x8F};
    return {0, 0, 0};
}

Decoded decode(std::string_view text, std::size_t at) noexcept {
    unsigned char const first = byte(text, at);
    if (first < 0x80) return {first, 1, true};
    auto [following, lowest, highest] = lead(first);
    if (following == 0) return {replacement, 1, false};
    char32_t code_point = first & (0x3Fu >> following);
    std::size_t size = 1;
    for (; following > 0; --following, ++size) {
        if (at + size >= text.size()) return {replacement, size, false};
        unsigned char const c = byte(text, at + size);
        if (c < lowest || c > highest) return {replacement, size, false};
        code_point = (code_point << 6) | (c & 0x3Fu);
        lowest = 0x80;
        highest = 0xBF;
    }
    return {code_point, size, true};
}

void append_hex(std::string& out, unsigned value, int digits) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += hex[(value >> shift) & 0xFu];
}

void append_escaped(std::string& out, char32_t c) {
    switch (c) {
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        default:
            break;
    }
    if (!is_control(c)) {
        append_code_point(out, c);
    } else if (c < 0x100) {
        out += "\\x";
        append_hex(out, c, 2);
    } else {
        out += "\\u";
        append_hex(out, c, 4);
    }
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    for (auto at = ascii_prefix(text); at < text.size(); at += ascii_prefix(text.substr(at))) {
        auto const decoded = decode(text, at);
        if (!decoded.well_formed) return false;
        at += decoded.size;
    }
    return true;
}

char32_t next_code_point(std::string_view text, std::size_t& at) noexcept {
    auto const decoded = decode(text, at);
    at += decoded.size;
    return decoded.code_point;
}

void append_code_point(std::string& out, char32_t c) {
    auto const put = [&out](char32_t value) { out += static_cast<char>(value); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6));
        put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    } else {
        put(0xF0 | (c >> 18));
        put(0x80 | ((c >> 12) & 0x3F));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

void append_utf8(std::string& out, std::string_view text) {
    std::size_t good = 0;  // Everything before it is copied.
    for (std::size_t at = 0; at < text.size();) {
        auto const decoded = decode(text, at);
        if (!decoded.well_formed) {
            out.append(text, good, at - good);
            append_code_point(out, replacement);
            good = at + decoded.size;
        }
        at += decoded.size;
    }
    out.append(text, good);
}

std::string to_utf8(std::string_view text) {
    if (is_utf8(text)) return std::string{text};
    std::string out;
    out.reserve(text.size() + 8);
    append_utf8(out, text);
    return out;
}

std::string_view trim(std::string_view text) noexcept {
    while (!text.empty() && byte(text, 0) <= 0x20) text.remove_prefix(1);
    while (!text.empty() && byte(text, text.size() - 1) <= 0x20) text.remove_suffix(1);
    return text;
}

bool is_white_space(char32_t c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool is_control(char32_t c) noexcept {
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

std::string lower_case(std::string_view text) {
    std::string out{text};
    for (char& c : out) c = lower_case(c);
    return out;
}

std::string joined(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (auto const part : parts) size += part.size();
    std::string out;
    out.reserve(size);
    for (auto const part : parts) out += part;
    return out;
}

std::string shown(std::string_view text) {
    std::string out = "\"";
    std::size_t shown = 0;
    for (std::size_t at = 0; at < text.size(); ++shown) {
        if (shown == shown_limit) return out + "\"… (" + std::to_string(text.size()) + " bytes)";
        auto const decoded = decode(text, at);
        if (decoded.well_formed) {
            append_escaped(out, decoded.code_point);
        } else {
            for (std::size_t i = 0; i < decoded.size; ++i) {
                out += "\\x";
                append_hex(out, byte(text, at + i), 2);
            }
        }
        at += decoded.size;
    }
    return out + '"';
}

void refuse(std::string_view field, std::string_view value, std::string_view rule) {
    throw std::invalid_argument(std::string{field} + ' ' + shown(value) + ": " + std::string{rule});
}

void refuse(std::string_view field, long long value, std::string_view rule) {
    throw std::invalid_argument(std::string{field} + ' ' + std::to_string(value) + ": " +
                                std::string{rule});
}

}  // namespace rollcall

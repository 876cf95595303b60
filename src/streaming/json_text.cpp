#include "streaming/json_text.hpp"

#include <cstddef>

#include "core/text.hpp"
#include "core/text_scan.hpp"

namespace rollcall::streaming {
namespace {

void append_unit(std::string& out, char32_t unit) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += hex[(unit >> shift) & 0xFu];
}

void append_control(std::string& out, char c) {
    switch (c) {
        case '\b':
            out += "\\b";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\f':
            out += "\\f";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            append_unit(out, static_cast<unsigned char>(c));
    }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, Astral astral) {
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
        auto const plain = json_plain_prefix(text.substr(at));
        out.append(text, at, plain);
        at += plain;
        if (at == text.size()) break;
        auto const c = next_code_point(text, at);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < 0x20) {
            append_control(out, static_cast<char>(c));
        } else if (c >= 0x10000 && astral == Astral::escaped) {
            append_unit(out, 0xD800 + ((c - 0x10000) >> 10));
            append_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            append_code_point(out, c);
        }
    }
    out += '"';
}

void append_json_name(std::string& out, std::string_view name) {
    if (!out.empty() && out.back() != '{') out += ',';
    out += '"';
    out += name;
    out += "\":";
}

void append_json_object(std::string& out, Metadata const& metadata) {
    out += '{';
    bool first = true;
    for (auto const& [key, value] : metadata) {
        if (!first) out += ',';
        first = false;
        append_json_string(out, key);
        out += ':';
        append_json_string(out, value);
    }
    out += '}';
}

}  // namespace rollcall::streaming

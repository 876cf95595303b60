#include "support/redis_escapes.hpp"

namespace rollcall::test {
namespace {

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

std::optional<char> unescape(std::string_view text, std::size_t& at) {
    if (++at >= text.size()) return std::nullopt;
    switch (text[at]) {
        case '"':
        case '\\':
            return text[at];
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'a':
            return '\a';
        case 'b':
            return '\b';
        case 'x':
            break;
        default:
            return std::nullopt;
    }
    int const high = at + 1 < text.size() ? digit(text[at + 1]) : -1;
    int const low = at + 2 < text.size() ? digit(text[at + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    at += 2;
    return static_cast<char>(high * 16 + low);
}

}  // namespace rollcall::test

#include <cstddef>
#include <string>

#include "core/text.hpp"
#include "streaming/json_map.hpp"

namespace rollcall::streaming {
namespace {

/// Reads the strings and the punctuation of a flat object, and gives up at anything else.
class Scanner {
public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    /// Passes over white space and then `c`, if it is there.
    bool take(char c) noexcept {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }

    /// A string; its text is valid until the next call with the same `buffer`.
    bool string(std::string& buffer, std::string_view& value) {
        if (!take('"')) return false;
        auto const* const begin = at_;
        unsigned char seen = 0;
        while (at_ != end_ && *at_ != '"' && *at_ != '\\') {
            auto const c = static_cast<unsigned char>(*at_);
            if (c < 0x20) return false;
            seen |= c;
            ++at_;
        }
        if (at_ == end_) return false;
        if (*at_ == '\\') return escaped(begin, buffer, value);
        value = {begin, static_cast<std::size_t>(at_ - begin)};
        ++at_;
        return seen < 0x80 || is_utf8(value);
    }

private:
    /// The rest of a string from its first escape on.
    bool escaped(char const* begin, std::string& buffer, std::string_view& value) {
        buffer.assign(begin, at_);
        for (; at_ != end_ && *at_ != '"'; ++at_) {
            char c = *at_;
            if (static_cast<unsigned char>(c) < 0x20) return false;
            if (c == '\\' && (++at_ == end_ || !unescape(*at_, c))) return false;
            buffer += c;
        }
        if (at_ == end_) return false;
        ++at_;
        value = buffer;
        return is_utf8(value);
    }

    static bool unescape(char letter, char& c) noexcept {
        switch (letter) {
            case '"':
            case '\\':
            case '/':
                c = letter;
                return true;
            case 'b':
                c = '\b';
                return true;
            case 'f':
                c = '\f';
                return true;
            case 'n':
                c = '\n';
                return true;
            case 'r':
                c = '\r';
                return true;
            case 't':
                c = '\t';
                return true;
            default:
                return false;
        }
    }

    char const* at_;
    char const* end_;
};

}  // namespace

bool read_flat_json_map(std::string_view text, Metadata& out) {
    Scanner scanner{text};
    if (!scanner.take('{')) return false;
    if (scanner.take('}')) return true;
    std::string key_buffer;
    std::string value_buffer;
    do {
        std::string_view key;
        std::string_view value;
        if (!scanner.string(key_buffer, key) || !scanner.take(':') ||
            !scanner.string(value_buffer, value)) {
            return false;
        }
        // Sorted documents, which our own writers make, are appended without a search.
        if (out.empty() || out.rbegin()->first < key) {
            out.emplace_hint(out.end(), key, value);
        } else if (auto const found = out.find(key); found != out.end()) {
            found->second = value;
        } else {
            out.emplace(key, value);
        }
    } while (scanner.take(','));
    return scanner.take('}');
}

}  // namespace rollcall::streaming

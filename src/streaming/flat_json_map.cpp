#include <cstddef>
#include <string>

#include "core/text.hpp"
#include "core/text_scan.hpp"
#include "streaming/json_map.hpp"

namespace rollcall::streaming {
namespace {

/// Reads the strings and the punctuation of a flat object, and gives up at anything else.
class Scanner {
public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    /// Passes over white space and then `c`, if it is there.
    bool take(char c) noexcept {
        while (at_ != end_ && *at_ != c && is_space(*at_)) ++at_;
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }

    /// A string, as a view of the document or, when it has escapes, of `buffer`.
    bool string(std::string_view& text, std::string& buffer) {
        if (!take('"')) return false;
        bool ascii = true;
        text = plain_run(ascii);
        if (at_ == end_) return false;
        if (*at_ != '"') return escaped(text, buffer, ascii);
        ++at_;
        return ascii || is_utf8(text);
    }

    /// The same into `text`, which is empty.
    bool string(std::string& text) {
        std::string_view view;
        if (!string(view, text)) return false;
        if (text.empty()) text = view;
        return true;
    }

private:
    static bool is_space(char c) noexcept {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }

    /// Passes over all that stands for itself; `ascii` becomes false when it is not all ASCII.
    std::string_view plain_run(bool& ascii) noexcept {
        auto const* const begin = at_;
        while (true) {
            at_ += json_plain_prefix({at_, end_});
            if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x80) return {begin, at_};
            ascii = false;
            ++at_;
        }
    }

    /// A string with escapes, of which `text` is what stands before the first one.
    bool escaped(std::string_view& text, std::string& buffer, bool ascii) {
        buffer = text;
        while (*at_ == '\\' && end_ - at_ >= 2) {
            char const c = unescaped(at_[1]);
            if (c == '\0') return false;
            at_ += 2;
            buffer += c;
            buffer += plain_run(ascii);
            if (at_ == end_) return false;
            if (*at_ != '"') continue;
            ++at_;
            text = buffer;
            return ascii || is_utf8(buffer);
        }
        return false;
    }

    /// What a backslash and `letter` stand for; NUL for anything but the simple escapes.
    static char unescaped(char letter) noexcept {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        auto const at = letters.find(letter);
        return at == std::string_view::npos ? '\0' : meanings[at];
    }

    char const* at_;
    char const* end_;
};

/// The value of `key`, empty.
std::string& slot(Metadata& members, std::string_view key) {
    auto& value = members.emplace(key, std::string_view{}).first->second;
    value.clear();
    return value;
}

}  // namespace

bool read_flat_json_map(std::string_view text, Metadata& out) {
    Scanner scanner{text};
    if (!scanner.take('{')) return false;
    if (scanner.take('}')) return true;
    std::string buffer;
    do {
        std::string_view key;
        if (!scanner.string(key, buffer) || !scanner.take(':')) return false;
        if (!scanner.string(slot(out, key))) return false;
    } while (scanner.take(','));
    return scanner.take('}');
}

}  // namespace rollcall::streaming

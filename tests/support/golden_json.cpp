#include "support/golden_json.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <vector>

namespace rollcall::test::golden {

namespace {

namespace json = boost::json;

/// Copies well-formed JSON without white space, the members of each object sorted by their text.
class Sorter {
public:
    explicit Sorter(std::string_view text) : text_(text) {}

    std::string value() {
        switch (text_[at_]) {
            case '{':
                return list('}', true);
            case '[':
                return list(']', false);
            case '"':
                return string();
            default:
                return scalar();
        }
    }

private:
    std::string list(char close, bool is_object) {
        std::string out(1, text_[at_++]);
        std::vector<std::string> items;
        while (text_[at_] != close) {
            if (text_[at_] == ',') ++at_;
            std::string item;
            if (is_object) {
                item = string();
                item += text_[at_++];
            }
            item += value();
            items.push_back(std::move(item));
        }
        ++at_;
        if (is_object) std::sort(items.begin(), items.end());
        for (auto const& item : items) out += item + ',';
        return out + close;
    }

    std::string string() {
        auto const start = at_++;
        while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        return std::string{text_.substr(start, ++at_ - start)};
    }

    std::string scalar() {
        auto const start = at_;
        at_ = std::min(text_.find_first_of(",]}", at_), text_.size());
        return std::string{text_.substr(start, at_ - start)};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

bool has_space_between_tokens(std::string_view text) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (inside && text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            inside = !inside;
        } else if (!inside && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')) {
            return true;
        }
    }
    return false;
}

bool is_json(std::string_view text) {
    boost::system::error_code error;
    json::parse(text, error);
    return !error;
}

bool same(json::value const& left, json::value const& right);

bool same_members(json::object const& left, json::object const& right) {
    return left.size() == right.size() &&
           std::all_of(left.begin(), left.end(), [&](auto const& member) {
               auto const* other = right.if_contains(member.key());
               return other && same(member.value(), *other);
           });
}

bool same(json::value const& left, json::value const& right) {
    if (left.is_number() && right.is_number()) {
        return left.to_number<double>() == right.to_number<double>();
    }
    if (left.is_object() && right.is_object()) {
        return same_members(left.get_object(), right.get_object());
    }
    if (left.is_array() && right.is_array()) {
        auto const& a = left.get_array();
        auto const& b = right.get_array();
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
    }
    return left == right;
}

}  // namespace

bool same_but_for_order(std::string_view left, std::string_view right) {
    if (left == right) return true;
    for (auto const text : {left, right}) {
        if (!is_json(text) || has_space_between_tokens(text)) return false;
    }
    return Sorter{left}.value() == Sorter{right}.value();
}

bool same_by_value(std::string_view left, std::string_view right) {
    if (left == right) return true;
    boost::system::error_code first;
    boost::system::error_code second;
    auto const a = json::parse(left, first);
    auto const b = json::parse(right, second);
    return !first && !second && same(a, b);
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n' || c == '\r' || c == '\t') {
            out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
        } else if (byte < 0x20 || byte > 0x7e) {
            char hex[5];
            std::snprintf(hex, sizeof hex, "\\x%02x", byte);
            out += hex;
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace rollcall::test::golden

#include "streaming/json_map.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/java_text.hpp"
#include "core/text.hpp"
#include "streaming/json_parsing.hpp"

namespace rollcall::streaming {
namespace {

namespace json = boost::json;
using ErrorCode = boost::system::error_code;

/// An object or array below the top one, while it is read.
struct Frame {
    bool object;
    std::string key = {};  // Of the member that comes next.
    std::vector<std::pair<std::string, std::string>> members = {};  // Arrays leave the keys empty.
};

/// A repeated key keeps its first place and takes its last value, as in Java's linked map.
void merge_repeated_keys(Frame& frame) {
    auto& members = frame.members;
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&members](std::size_t i) {
        return std::pair{std::string_view{members[i].first}, i};
    });
    std::vector<bool> dropped(members.size(), false);
    for (std::size_t first = 0, i = 1; i < order.size(); ++i) {
        if (members[order[i]].first != members[order[first]].first) {
            first = i;
            continue;
        }
        members[order[first]].second = std::move(members[order[i]].second);
        dropped[order[i]] = true;
    }
    std::size_t index = 0;
    std::erase_if(members, [&](auto const&) { return dropped[index++]; });
}

std::string text_of(Frame& frame) {
    if (frame.object) merge_repeated_keys(frame);
    std::string text(1, frame.object ? '{' : '[');
    bool first = true;
    for (auto const& [key, value] : frame.members) {
        if (!first) text += ", ";
        first = false;
        if (frame.object) text += key + '=';
        text += value;
    }
    text += frame.object ? '}' : ']';
    return text;
}

/// Collects the members of the top object; refuses any other document.
class Handler {
public:
    static constexpr std::size_t max_object_size = -1;
    static constexpr std::size_t max_array_size = -1;
    static constexpr std::size_t max_key_size = -1;
    static constexpr std::size_t max_string_size = -1;

    Metadata take() { return std::move(members_); }

    bool on_document_begin(ErrorCode&) { return true; }
    bool on_document_end(ErrorCode&) { return true; }

    bool on_object_begin(ErrorCode&) {
        if (inside_) frames_.push_back({.object = true});
        inside_ = true;
        return true;
    }
    bool on_object_end(std::size_t, ErrorCode&) { return frames_.empty() || close(); }
    bool on_array_begin(ErrorCode& error) {
        if (!inside_) return refuse(error);
        frames_.push_back({.object = false});
        return true;
    }
    bool on_array_end(std::size_t, ErrorCode&) { return close(); }

    bool on_key_part(json::string_view part, std::size_t, ErrorCode&) {
        buffer_ += part;
        return true;
    }
    bool on_key(json::string_view part, std::size_t, ErrorCode&) {
        buffer_ += part;
        (frames_.empty() ? key_ : frames_.back().key) = std::exchange(buffer_, {});
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, ErrorCode&) {
        buffer_ += part;
        return true;
    }
    bool on_string(json::string_view part, std::size_t, ErrorCode& error) {
        buffer_ += part;
        return value(std::exchange(buffer_, {}), error);
    }
    bool on_number_part(json::string_view part, ErrorCode&) {
        buffer_ += part;
        return true;
    }
    bool on_int64(std::int64_t number, json::string_view, ErrorCode& error) {
        buffer_.clear();
        return value(std::to_string(number), error);
    }
    bool on_uint64(std::uint64_t number, json::string_view, ErrorCode& error) {
        buffer_.clear();
        return value(std::to_string(number), error);
    }
    /// Also called for integers of more than 64 bits, which Java keeps exact.
    bool on_double(double number, json::string_view part, ErrorCode& error) {
        buffer_ += part;
        auto text = std::exchange(buffer_, {});
        bool const integer = text.find_first_of(".eE") == std::string::npos;
        return value(integer ? std::move(text) : java_text(number), error);
    }
    bool on_bool(bool flag, ErrorCode& error) { return value(flag ? "true" : "false", error); }
    bool on_null(ErrorCode& error) {
        if (!inside_) return refuse(error);
        if (!frames_.empty()) return value("null", error);
        members_.erase(key_);
        return true;
    }
    bool on_comment_part(json::string_view, ErrorCode&) { return true; }
    bool on_comment(json::string_view, ErrorCode&) { return true; }

private:
    static bool refuse(ErrorCode& error) {
        error = json::error::not_object;
        return false;
    }

    bool value(std::string text, ErrorCode& error) {
        if (!inside_) return refuse(error);
        if (frames_.empty()) {
            members_.insert_or_assign(std::move(key_), std::move(text));
        } else {
            frames_.back().members.emplace_back(std::move(frames_.back().key), std::move(text));
        }
        return true;
    }

    bool close() {
        auto text = text_of(frames_.back());
        frames_.pop_back();
        ErrorCode none;
        return value(std::move(text), none);
    }

    bool inside_ = false;  // The top object has begun.
    std::string key_;      // Of its member that comes next.
    std::string buffer_;   // Of a text that comes in parts.
    std::vector<Frame> frames_;
    Metadata members_;
};

}  // namespace

std::optional<Metadata> read_json_map_by_parser(std::string_view text) {
    auto const bytes = to_utf8(text);
    json::basic_parser<Handler> parser{stored_json_options()};
    ErrorCode error;
    parser.write_some(false, bytes.data(), bytes.size(), error);
    if (error) return std::nullopt;
    return parser.handler().take();
}

std::optional<Metadata> read_json_map(std::string_view text) {
    if (Metadata members; read_flat_json_map(text, members)) return members;
    return read_json_map_by_parser(text);
}

}  // namespace rollcall::streaming

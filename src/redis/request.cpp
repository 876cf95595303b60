#include "redis/request.hpp"

#include <charconv>
#include <string>

namespace rollcall::redis {
namespace {

constexpr std::string_view line_end = "\r\n";

/// The number in a line such as `*3` or `$17` at `at`; moves `at` behind the line.
std::size_t read_count(std::string_view payload, std::size_t& at) {
    auto const end = payload.find(line_end, at);
    std::size_t count = 0;
    std::from_chars(payload.data() + at + 1, payload.data() + end, count);
    at = end + line_end.size();
    return count;
}

std::string_view read_bulk(std::string_view payload, std::size_t& at) {
    auto const size = read_count(payload, at);
    auto const bulk = payload.substr(at, size);
    at += size + line_end.size();
    return bulk;
}

}  // namespace

void Request::push(std::string_view command, Args args) {
    if (args.empty()) {
        wire_.push(command);
    } else {
        wire_.push_range(command, args.begin(), args.end());
    }
}

void Request::push_script(Script const& script, Args keys, Args args) {
    auto const count = std::to_string(keys.size());
    arguments_.assign({script.sha1, count});
    arguments_.insert(arguments_.end(), keys.begin(), keys.end());
    arguments_.insert(arguments_.end(), args.begin(), args.end());
    scripts_.push_back({size(), wire_.payload().size(), script.text});
    push("EVALSHA", arguments_);
}

void Request::push_evaluated(Request const& other, ScriptCall const& call) {
    // The payload is our own, so it is well-formed: EVALSHA, the SHA-1, then what EVAL takes too.
    auto const payload = other.wire_.payload();
    auto at = call.begin;
    auto const count = read_count(payload, at);
    read_bulk(payload, at);
    read_bulk(payload, at);
    arguments_.assign({call.text});
    for (std::size_t i = 2; i < count; ++i) arguments_.push_back(read_bulk(payload, at));
    push("EVAL", arguments_);
}

void Request::clear() {
    wire_.clear();
    scripts_.clear();
}

}  // namespace rollcall::redis

#include "redis/info.hpp"

#include <algorithm>

namespace rollcall::redis {
namespace {

constexpr std::string_view blanks = "\r\n";

/// `run_id` and `master_replid` of Redis are 40 hexadecimal digits; ours may be, of others we take
/// what a program may call so.
constexpr std::size_t longest_id = 128;

bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= longest_id &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::string_view info_value(std::string_view info, std::string_view name) noexcept {
    while (!info.empty()) {
        auto const end = std::min(info.find_first_of(blanks), info.size());
        auto const line = info.substr(0, end);
        info.remove_prefix(std::min(end + 1, info.size()));
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return line.substr(name.size() + 1);
        }
    }
    return {};
}

std::string_view info_id(Value info, std::string_view name) noexcept {
    if (info.is_error()) return {};
    auto const value = info_value(info.text(), name);
    return is_id(value) ? value : std::string_view{};
}

}  // namespace rollcall::redis

#include "rollcall/cosky/redis_keys.hpp"

#include <optional>

#include "core/text.hpp"

namespace rollcall::cosky {
namespace {

/// What is between the first `{` and the first `}` behind it.
std::optional<std::string_view> wrapped(std::string_view key) noexcept {
    auto const open = key.find('{');
    if (open == std::string_view::npos) return std::nullopt;
    key.remove_prefix(open + 1);
    auto const close = key.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    return key.substr(0, close);
}

}  // namespace

bool RedisKeys::has_wrap(std::string_view key) noexcept { return wrapped(key).has_value(); }

std::string RedisKeys::wrap(std::string_view key) { return joined({"{", key, "}"}); }

std::string RedisKeys::hash_tag(std::string_view key) {
    return has_wrap(key) ? std::string{key} : wrap(key);
}

std::string RedisKeys::of_key(bool cluster, std::string_view key) {
    return cluster ? hash_tag(key) : std::string{key};
}

std::string RedisKeys::unwrap(std::string_view key) {
    return std::string{wrapped(key).value_or(key)};
}

bool RedisKeys::has_hash_tag(std::string_view key) noexcept {
    auto const tag = wrapped(key);
    return tag && !tag->empty();
}

}  // namespace rollcall::cosky

#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Hash tags of keys. Pure functions, total over any text. Source: spec 1, "RedisKeys rules".
struct RedisKeys {
    /// Some `}` follows the first `{`, whatever is between.
    static bool has_wrap(std::string_view key) noexcept;
    static std::string wrap(std::string_view key);      ///< `{key}`.
    static std::string hash_tag(std::string_view key);  ///< `key` if it has a wrap, else wrapped.
    static std::string of_key(bool cluster, std::string_view key);  ///< `hash_tag` on a cluster.
    /// The text between the first `{` and the first `}` behind it; `key` when there is none.
    static std::string unwrap(std::string_view key);
    /// Whether Redis Cluster hashes a part of `key` only: a wrap that is not empty.
    static bool has_hash_tag(std::string_view key) noexcept;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

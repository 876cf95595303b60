#pragma once

#include <string_view>

namespace rollcall::redis {

/// A Lua script, embedded at build time from a file under a `lua/` folder.
struct Script {
    std::string_view name;  ///< The file's name without `.lua`.
    std::string_view text;
    std::string_view sha1;  ///< Hexadecimal, of `text`.
};

}  // namespace rollcall::redis

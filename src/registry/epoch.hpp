#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "redis/request.hpp"
#include "redis/response.hpp"

namespace rollcall {

/// Where the epoch of a prefix of redis-streaming or a namespace of CoSky is.
std::string epoch_key_of(std::string_view prefix);

/// 32 hexadecimal digits.
std::string random_epoch();

/// Adds the command that writes an epoch if there is none.
void push_epoch(redis::Request& request, std::string_view key);

/// What to warn of when that was answered with `reply`; none when it is done, or may be next time.
std::optional<std::string> epoch_refusal(redis::Value reply, std::string_view key);

}  // namespace rollcall

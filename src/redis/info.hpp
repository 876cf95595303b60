#pragma once

#include <string_view>

#include "redis/response.hpp"

namespace rollcall::redis {

/// The value of `name` in the text of INFO; empty when there is none. Total: the text may be
/// anything.
std::string_view info_value(std::string_view info, std::string_view name) noexcept;

/// The same of an answer to INFO, when it is something that a program may call itself; empty
/// otherwise, and where INFO is refused.
std::string_view info_id(Value info, std::string_view name) noexcept;

}  // namespace rollcall::redis

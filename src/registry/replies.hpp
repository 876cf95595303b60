#pragma once

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/response.hpp"

namespace rollcall {

/// Name and value; both point into the reply.
using HashField = std::pair<std::string_view, std::string_view>;

/// Replaces `fields` by those of an HGETALL. None for anything else.
void read_fields(redis::Value hash, std::vector<HashField>& fields);

/// What TIME replied, since the epoch.
std::chrono::milliseconds time_of(redis::Value reply);

}  // namespace rollcall

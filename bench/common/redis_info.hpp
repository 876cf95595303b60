#pragma once

#include <string>

#include "common/process.hpp"

namespace rollcall::bench {

// From the text that INFO answers. Throw when it does not tell.

/// A number such as that of `used_cpu_user:1.25`.
double info_number(std::string const& info, std::string const& name);
std::string info_text(std::string const& info, std::string const& name);

/// User and system time of Redis, all threads.
Microseconds redis_cpu(std::string const& info);

}  // namespace rollcall::bench

#pragma once

#include <string_view>

#include "load/redis_benchmark.hpp"
#include "support/redis_server.hpp"

namespace rollcall::bench {

/// The arguments in a line such as `1700000000.5 [0 unix:/x] "SET" "a" "\x00"`; empty for others.
Command arguments_in_monitor_line(std::string_view line);

/// Sees what a Redis is asked.
class Monitor {
public:
    explicit Monitor(test::RedisServer const& server);

    /// The next command of this name. Throws when there is none for a while.
    Command next(std::string_view name);

private:
    test::RedisClient client_;
};

}  // namespace rollcall::bench

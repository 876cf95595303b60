#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/process.hpp"

namespace rollcall::bench {

using Command = std::vector<std::string>;

/// What redis-benchmark replaces by twelve digits, drawn anew for each occurrence.
inline constexpr std::string_view random_digits = "__rand_int__";

/// How redis-benchmark is driven: connections, and commands that each keeps on the way.
struct Pipelining {
    std::size_t clients = 50;
    std::size_t depth = 1;

    std::string text() const;  ///< `-c 50 -P 16`
    friend bool operator==(Pipelining const&, Pipelining const&) = default;
};

/// Those that are tried for the best.
std::vector<Pipelining> const& pipelinings();

struct RivalRun {
    std::size_t commands = 0;
    double per_second = 0;
    Microseconds cpu{0};  ///< Of redis-benchmark, one command.
};

/// Runs `command` at least `count` times with random digits below `keyspace`. Throws when it fails.
RivalRun run_redis_benchmark(std::string const& socket, Pipelining pipelining, std::size_t count,
                             std::size_t keyspace, Command const& command);

/// The rate in what `redis-benchmark --csv` printed. Throws when there is none.
double rate_in_csv(std::string_view output);

}  // namespace rollcall::bench

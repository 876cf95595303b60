#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "load/cases.hpp"
#include "load/rival.hpp"

namespace rollcall::bench {

inline constexpr std::size_t probe = 7;  ///< The instance whose script call is captured.

/// One way to write, beside a rival.
struct Way {
    std::string name = {};
    std::size_t operations = 0;  ///< Of a lap.
    std::function<void()> lap = {};
    std::string rival_does = {};
    std::optional<double> at_least = {};  ///< Of the ratio of the rates.
};

/// Laps of all ways and of the rival in turn. For each way its rate against the rival's, then what
/// an operation costs Redis and the client.
std::vector<Figure> measure_beside(Stage& stage, Rival& rival, Effort const& effort,
                                   std::vector<Way> const& ways);

/// Heartbeats through the port, `batch` in each call.
void heartbeat_many(Stage& stage, std::size_t calls, std::size_t batch, std::size_t at_a_time);

/// Heartbeats through the port, many in each call.
Way batched_heartbeats(Stage& stage, Effort const& effort, std::string name, double at_least);

}  // namespace rollcall::bench

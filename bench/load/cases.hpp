#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "common/report.hpp"
#include "load/stage.hpp"

namespace rollcall::bench {

/// How thoroughly is measured.
struct Effort {
    bool brief = false;  ///< Only to see that all of it works.
    std::size_t repetitions = 9;
    std::size_t operations = 20'000;  ///< Of each repetition.
    // Of the workloads, whose laps last for a time.
    std::chrono::duration<double> lap{0.25};
    std::size_t laps = 3;
};

/// Each on an empty stage, or one whose instances are registered.
std::vector<Figure> measure_streaming_register(Stage& stage, Effort const& effort);
std::vector<Figure> measure_streaming_heartbeat(Stage& stage, Effort const& effort);
std::vector<Figure> measure_streaming_discover(Stage& stage, Effort const& effort);

std::vector<Figure> measure_cosky_register(Stage& stage, Effort const& effort);
std::vector<Figure> measure_cosky_renew(Stage& stage, Effort const& effort);
std::vector<Figure> measure_cosky_instances(Stage& stage, Effort const& effort);
std::vector<Figure> measure_cosky_keepalive(Stage& stage, Effort const& effort);
std::vector<Figure> measure_push_streaming(Stage& stage, Effort const& effort);
std::vector<Figure> measure_push_cosky(Stage& stage, Effort const& effort);
std::vector<Figure> measure_workload_p(Stage& stage, Effort const& effort);
std::vector<Figure> measure_workload_c(Stage& stage, Effort const& effort);

}  // namespace rollcall::bench

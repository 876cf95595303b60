#pragma once

#include <cstddef>
#include <vector>

#include "load/report.hpp"
#include "load/stage.hpp"

namespace rollcall::bench {

/// How thoroughly is measured.
struct Effort {
    bool brief = false;  ///< Only to see that all of it works.
    std::size_t repetitions = 9;
    std::size_t operations = 20'000;  ///< Of each repetition.
};

/// Each needs a stage of its own, or one whose instances are registered.
std::vector<Figure> measure_register(Stage& stage, Effort const& effort);
std::vector<Figure> measure_heartbeats(Stage& stage, Effort const& effort);
std::vector<Figure> measure_discovery(Stage& stage, Effort const& effort);

}  // namespace rollcall::bench

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/report.hpp"
#include "load/stage.hpp"

namespace rollcall::bench {

/// Rates and costs of one way to do something, one entry a lap.
struct Series {
    std::vector<double> per_second = {};
    std::vector<double> redis_cpu = {};   ///< Microseconds an operation.
    std::vector<double> client_cpu = {};  ///< Microseconds an operation.

    void add(Lap const& lap, std::size_t operations);
};

/// The median of `values`, and that of the ratios to the `others` of the same laps.
Figure compare(std::string name, std::vector<double> const& values, std::string unit,
               std::vector<double> const& others, std::string against);

/// What an operation costs the client, beside what it costs Redis.
Figure client_cpu(std::string const& name, Series const& series);

}  // namespace rollcall::bench

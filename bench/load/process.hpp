#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rollcall::bench {

using Microseconds = std::chrono::duration<double, std::micro>;

/// User and system time of this process, all threads.
Microseconds own_cpu();

struct Ended {
    std::string output;  ///< Of standard output.
    int status = 0;      ///< Exit status; 128 and the signal for one that was killed.
    Microseconds cpu{0};
};

/// Runs a program, found by PATH, to its end. Throws when it cannot be started.
Ended run_program(std::vector<std::string> const& arguments);

/// The same, where an exit status other than zero is an exception.
Ended must_run(std::vector<std::string> const& arguments);

}  // namespace rollcall::bench

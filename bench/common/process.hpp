#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace rollcall::bench {

using Microseconds = std::chrono::duration<double, std::micro>;

/// User and system time of this process, all threads.
Microseconds own_cpu();
/// Of another one, to a hundredth of a second.
Microseconds cpu_of(pid_t process);

/// Bytes of this process that are in memory, or of another one.
std::size_t resident_memory();
std::size_t resident_memory(pid_t process);
/// Gives what is free on the heap back to the system, so that what is allocated next shows in
/// `resident_memory`.
void give_back_memory();

/// The cores that this process may use, shared out once: the first for Redis, the others for
/// everything that calls it, so that neither is moved about between laps. With a single core: no
/// share-out.
class Cores {
public:
    Cores();

    // For the calling thread and all that it starts afterwards.
    void use_first() const;
    void use_others() const;

private:
    void use(std::size_t begin, std::size_t end) const;

    std::vector<int> all_;
};

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

#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace rollcall::test {

inline std::size_t entries_of(char const* folder) {
    std::filesystem::directory_iterator const entries{folder};
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// What this process holds.
struct Holdings {
    std::size_t threads = entries_of("/proc/self/task");
    std::size_t descriptors = entries_of("/proc/self/fd");
};

/// Of its memory, what is in use.
inline std::size_t resident_bytes() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t all = 0;
    std::size_t resident = 0;
    statm >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace rollcall::test

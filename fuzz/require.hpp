#pragma once

#include <cstdio>
#include <cstdlib>

namespace rollcall::fuzz {

/// Ends the program, which the fuzzer takes for a find, unless `holds`.
inline void require(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

}  // namespace rollcall::fuzz

#pragma once

#include <chrono>

namespace rollcall {

/// The moment, on the monotonic clock, at which an operation gives up.
using Deadline = std::chrono::steady_clock::time_point;

inline Deadline after(std::chrono::steady_clock::duration limit) {
    return std::chrono::steady_clock::now() + limit;
}

}  // namespace rollcall

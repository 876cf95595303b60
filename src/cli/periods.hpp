#pragma once

#include <algorithm>
#include <chrono>

namespace rollcall::cli {

/// How often who keeps house looks for expired instances.
constexpr std::chrono::milliseconds sweep_period(std::chrono::milliseconds lease) noexcept {
    return std::clamp(lease / 3, std::chrono::milliseconds{1'000},
                      std::chrono::milliseconds{30'000});
}

}  // namespace rollcall::cli

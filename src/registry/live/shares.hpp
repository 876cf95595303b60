#pragma once

#include <cstdint>

namespace rollcall::live {

/// How much of the traffic some instances may get, relative to others.
struct Shares {
    std::uint64_t trusted = 0;
    std::uint64_t suspect = 0;  ///< Counts only where nobody is trusted.

    bool any() const noexcept { return trusted > 0 || suspect > 0; }
    bool only_suspects() const noexcept { return trusted == 0; }
    std::uint64_t of(bool suspects) const noexcept { return suspects ? suspect : trusted; }
    void add(Shares const& more) noexcept {
        trusted += more.trusted;
        suspect += more.suspect;
    }
};

}  // namespace rollcall::live

#pragma once

#include <cstdint>

namespace rollcall {

/// An operator's wish that an instance gets no traffic for a while.
struct Drain {
    enum class State : std::uint8_t {
        none,    ///< Nothing is known of one.
        wanted,  ///< It goes on.
        over,    ///< What it changed is to be changed back.
    };
    State state = State::none;
    std::uint64_t number = 0;  ///< Which one it is: the next has another.
};

}  // namespace rollcall

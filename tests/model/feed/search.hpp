#pragma once

#include <cstddef>
#include <string>

#include "model/feed/scene.hpp"

namespace rollcall::test::feed {

struct SearchReport {
    std::size_t states = 0;  ///< Visited, all different.
    std::size_t transitions = 0;
    std::size_t depth = 0;   ///< Down to which all were.
    bool exhausted = false;  ///< There are no others.
    std::string wrong;       ///< Empty, or what is wrong with the last step of `trace`.
    std::string trace;       ///< The shortest way there, a step a line.
};

/// Visits all states of a scene, the nearest first, until something is wrong or the bounds of the
/// scene are met. From each it also follows the quiet end: no fault happens any more, all that is
/// on its way arrives, time passes; then the feed must show what lives, in time, and nothing else.
SearchReport search(Scene const& scene);

/// Goes much deeper on `walks` ways of at most scene.depth random steps, each with its own quiet
/// end. The same seed, the same ways.
SearchReport wander(Scene const& scene, std::size_t walks, std::uint32_t seed);

}  // namespace rollcall::test::feed

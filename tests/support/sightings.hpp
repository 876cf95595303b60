#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "registry/live/sighting.hpp"

namespace rollcall::test {

/// Presence by id, followed by `described` if it has a description and `leased` if it has a lease.
inline std::map<std::string, std::string> texts_of(std::vector<Sighting> const& sightings) {
    static constexpr char const* names[] = {"alive",    "expired", "hollow",
                                            "unlisted", "absent",  "unreadable"};
    std::map<std::string, std::string> result;
    for (auto const& sighting : sightings) {
        auto& text = result[sighting.id];
        text = names[static_cast<int>(sighting.presence)];
        if (sighting.instance) text += " described";
        if (sighting.state.lease_until) text += " leased";
    }
    return result;
}

}  // namespace rollcall::test

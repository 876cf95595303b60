#pragma once

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "registry/live/service_feed.hpp"

namespace rollcall::test {

using namespace std::chrono_literals;

/// The changes, each in words.
inline std::vector<std::string> told(FeedOutcome const& outcome) {
    static constexpr char const* kinds[] = {"current", "added",   "updated",
                                            "removed", "suspect", "resync"};
    static constexpr char const* reasons[] = {"", " deregistered", " expired", " absent", " lost"};
    std::vector<std::string> result;
    for (auto const& change : outcome.changes) {
        result.push_back(std::string{kinds[static_cast<int>(change.kind)]} + ' ' + change.id +
                         reasons[static_cast<int>(change.reason)]);
    }
    return result;
}

/// A feed, its clock, and whoever reads for it.
class ServiceFeedTest : public testing::Test {
protected:
    using Time = ServiceFeed::Time;
    using Lease = std::optional<std::chrono::milliseconds>;

    static constexpr auto lease = 90s;

    Sighting alive(std::string id, int port = 80, Lease left = lease) const {
        Sighting sighting;
        auto instance = std::make_shared<ServiceInstance>();
        instance->instance_id = id;
        instance->port = port;
        sighting.id = std::move(id);
        sighting.presence = Presence::alive;
        sighting.instance = std::move(instance);
        if (left) sighting.state.lease_until = now + *left;
        return sighting;
    }

    static Sighting only(std::string id, Presence presence) {
        Sighting sighting;
        sighting.id = std::move(id);
        sighting.presence = presence;
        return sighting;
    }

    FeedRead read() {
        auto const next = feed.next_read(now);
        if (!next) throw std::logic_error{"nothing is to be read"};
        return *next;
    }

    FeedOutcome answer(FeedRead const& read, std::vector<Sighting> sightings,
                       std::optional<GenerationNumber> generation = 1) {
        FeedAnswer given;
        given.number = read.number;
        given.complete = true;
        given.path_clean = true;
        given.generation = generation;
        given.sightings = std::move(sightings);
        return feed.answer(std::move(given), now);
    }

    FeedOutcome fail(FeedRead const& read) {
        FeedAnswer given;
        given.number = read.number;
        return feed.answer(std::move(given), now);
    }

    FeedOutcome load(std::vector<Sighting> sightings, GenerationNumber generation = 1) {
        feed.confirmed(now);
        return answer(read(), std::move(sightings), generation);
    }

    /// Goes to the next moment at which something is to be read.
    FeedRead wait() {
        now = std::max(now, feed.wake_at());
        return read();
    }

    FeedOptions const options;
    Time now{1'000'000s};
    ServiceFeed feed{options, now};
};

}  // namespace rollcall::test

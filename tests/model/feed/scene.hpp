#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "registry/live/service_feed.hpp"

namespace rollcall::test::feed {

using std::chrono::milliseconds;
using Time = ServiceFeed::Time;

enum class Layout : std::uint8_t { streaming, cosky };

/// Deliberately broken machines, to show that the search finds them.
enum class Defect : std::uint8_t {
    none,
    no_resync,         ///< A confirmation after the first is not followed by a read.
    remove_then_add,   ///< A change takes the instance away and brings it back.
    read_too_early,    ///< Reads when the connection is made, not when the server has confirmed.
    any_generation,    ///< Believes absence whatever became of the data.
    lease_in_content,  ///< Counts the lease as part of the description.
};

/// What can happen next.
enum class Act : std::uint8_t {
    // The reader and its connections.
    deliver,    ///< The first message of the queue reaches the feed.
    ask,        ///< A read is sent; the generation and the list are taken.
    look_up,    ///< The Hashes and leases of the ids are taken.
    finish,     ///< The generation is taken again, and a PING sent.
    arrive,     ///< The answer reaches the feed.
    notice,     ///< The feed is told that the connection is lost.
    connect,    ///< It is made anew.
    subscribe,  ///< The server subscribes it, and confirms.
    // Owners and others.
    enter,  ///< An instance is registered.
    describe,
    leave,
    die,
    renew,
    remove,
    sweep,
    // Faults.
    cut,
    overflow,
    flush,
    restart,
    evict_hash,
    evict_entry,
    overwrite,
    fail,
    reconnect,  ///< The connection of a read is made anew in the middle.
    // The moment of the next event.
    wait,
};

struct Step {
    Act act = Act::wait;
    std::uint8_t who = 0;
};

/// What may happen, and how often. What has no number here may happen at any time: messages and
/// answers on their way, renewals, expiry, sweeping, connecting, subscribing, time.
struct Scene {
    std::string name = {};
    Layout layout = Layout::streaming;
    Defect defect = Defect::none;
    std::size_t instances = 2;
    std::size_t registered = 0;  ///< So many are registered and known when it begins.
    bool persistent = false;     ///< The last instance has no lease.
    bool phantoms = false;       ///< A Hash that goes leaves a rest which describes nothing.
    bool tracking = true;        ///< The server tells when the epoch's key is gone.
    bool late_messages = false;  ///< The answer to a PING may overtake messages before it.
    std::size_t most_ids = 4;    ///< Of the feed.

    std::vector<Step> prelude = {};  ///< What has happened then.

    std::uint8_t owners = 0;     ///< Steps of owners: register, describe, deregister, die.
    std::uint8_t operators = 0;  ///< Deregistrations by somebody else.
    std::uint8_t cuts = 0;       ///< The connection of the messages breaks, and they are lost.
    std::uint8_t overflows = 0;  ///< The queue of messages is dropped, and the feed told.
    std::uint8_t losses = 0;     ///< Redis loses all its data.
    std::uint8_t restarts = 0;   ///< Redis restarts with its data.
    std::uint8_t evictions = 0;  ///< One key goes, or is overwritten.
    std::uint8_t failures = 0;   ///< A read fails, or its connection is made anew in the middle.

    std::size_t depth = 64;        ///< So many steps.
    std::size_t states = 100'000;  ///< The search ends there.
};

/// Short, and multiples of each other, so that different ways lead to equal states.
inline constexpr milliseconds lease{10'000};
inline constexpr milliseconds heartbeat{6'000};
inline constexpr milliseconds blind_period{2'000};
inline constexpr milliseconds pause{500};
inline constexpr milliseconds reconcile_every{20'000};

inline FeedOptions options_of(Scene const& scene) {
    FeedOptions options;
    options.lease = lease;
    options.reconcile_every = reconcile_every;
    options.reread_within = 2 * reconcile_every;
    options.blind_period = blind_period;
    options.doubt_pause = options.first_retry = options.last_retry = pause;
    options.most_ids = scene.most_ids;
    return options;
}

}  // namespace rollcall::test::feed

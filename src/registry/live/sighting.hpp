#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rollcall/instance.hpp"

namespace rollcall {

/// What a message says happened. It is a hint: the instance is read again.
enum class News {
    changed,       ///< Registered, described anew, or nothing in particular.
    renewed,       ///< Nothing but its lease.
    deregistered,  ///< By its owner or by an operator.
    removed,       ///< Deregistered or swept: the message does not tell.
    expired,
};

/// What a read found of one id.
enum class Presence {
    alive,       ///< Listed and stored, within its lease if it has one.
    expired,     ///< Listed, but its lease has run out by the time that the list has.
    hollow,      ///< Listed, without a Hash, and not known to have expired.
    unlisted,    ///< A Hash that no list names.
    absent,      ///< Neither.
    unreadable,  ///< Listed and stored, and no description of an instance.
};

struct Sighting {
    std::string id = {};
    Presence presence = Presence::absent;
    /// Null when only leases were asked for.
    std::shared_ptr<ServiceInstance const> instance = {};
    /// Of a hollow one the lease by the time that the list has; none where lists have no times. Of
    /// an unreadable one that of what is there.
    InstanceState state = {};
};

/// Of the data in Redis: equal numbers, equal generations (see the rule "Proof of absence").
using GenerationNumber = std::uint64_t;

/// A read to be made for one service.
struct FeedRead {
    std::uint64_t number = 0;
    bool everything = false;    ///< All that is listed; else `ids`.
    bool descriptions = false;  ///< Else leases only.
    bool proof = false;         ///< With the generation before and after, and a PING behind.
    std::vector<std::string> ids = {};
};

/// What came of it.
struct FeedAnswer {
    std::uint64_t number = 0;
    bool complete = false;  ///< Every part was answered.
    /// That of the data read, if it was the same before and after, on one connection.
    std::optional<GenerationNumber> generation = {};
    /// A PING was answered behind the read on the connection that messages come on.
    bool path_clean = false;
    std::vector<Sighting> sightings = {};
};

}  // namespace rollcall

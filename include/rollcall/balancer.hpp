#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#pragma GCC visibility push(default)

namespace rollcall {

// How one of several instances is chosen. Of all balancers: an instance that is disabled (which is
// what draining makes it), unhealthy, or of a weight of 0 or less gets no traffic; a suspect one
// only if nobody else is there; if nobody is left, none is chosen. `docs/balancing.md` has figures
// of each.

/// Each call at random, in proportion to the weights.
struct WeightedRandom {
    friend bool operator==(WeightedRandom const&, WeightedRandom const&) = default;
};

/// In turn, in proportion to the weights and spread evenly: over as many calls of one thread as the
/// weights add up to, divided by their greatest common divisor, each instance gets exactly its
/// share. Threads, and lists that changed, begin at different places.
struct RoundRobin {
    friend bool operator==(RoundRobin const&, RoundRobin const&) = default;
};

/// Of two at random, in proportion to the weights, the one with fewer calls outstanding for its
/// weight; but none that fails much more often than the other, however free that makes it. Only
/// calls made with `Service::start_call` are known to be outstanding, or to have failed.
struct LeastOutstanding {
    friend bool operator==(LeastOutstanding const&, LeastOutstanding const&) = default;
};

/// Of two at random, in proportion to the weights, the one that is to answer sooner: by its latency
/// of late, times the calls that wait for it. Failures count as slow, however fast they are, and
/// one that fails much more often than the other is not taken. One of which nothing is known
/// counts as like the other. Needs `Service::start_call`.
struct LowestLatency {
    /// After that time an old measurement counts half; after four times that, not at all, so that
    /// who was slow is tried again.
    std::chrono::milliseconds half_life{5'000};

    friend bool operator==(LowestLatency const&, LowestLatency const&) = default;
};

/// Equal keys (`ChooseOptions::key`) to the same instance. When an instance comes or goes, only its
/// own keys move. Weights above 0 count alike. Without a key: as `WeightedRandom`.
struct ConsistentHash {
    std::size_t points = 128;  ///< Of each instance on the ring: 1…4,096.

    friend bool operator==(ConsistentHash const&, ConsistentHash const&) = default;
};

using Balancer =
    std::variant<WeightedRandom, RoundRobin, LeastOutstanding, LowestLatency, ConsistentHash>;

/// `weighted-random`, `round-robin`, `least-outstanding`, `lowest-latency`, `consistent-hash`.
std::string_view name(Balancer const& balancer) noexcept;
/// With its defaults; none for an unknown name.
std::optional<Balancer> find_balancer(std::string_view name) noexcept;

/// Where the caller runs, to keep calls near.
///
/// Calls stay in the zone while enough of it may get traffic; what is missing goes to the region,
/// and then to everybody else. An instance tells by its metadata where it runs.
struct Locality {
    std::string zone = {};    ///< Empty: no preference.
    std::string region = {};  ///< Empty: no preference.
    /// How much of the weight known in the zone has to be able to get traffic for all calls to stay
    /// there; below, their share shrinks with it. Above 0, at most 1.
    double enough = 0.7;
    std::string zone_key = "zone";
    std::string region_key = "region";

    friend bool operator==(Locality const&, Locality const&) = default;
};

/// Takes instances that fail out of choice for a while. Needs `Service::start_call`. Handles that
/// have it share what they know; those without do not look at it.
struct OutlierEjection {
    std::size_t consecutive_failures = 5;         ///< Out after so many. 0: none ever is.
    std::chrono::milliseconds base_time{30'000};  ///< Out for that long, times how often without a
                                                  ///< success in between…
    std::chrono::milliseconds longest_time{300'000};  ///< …but no longer.
    double at_most = 0.5;  ///< Of those who may get traffic, so many are out at a time. 0…1.

    friend bool operator==(OutlierEjection const&, OutlierEjection const&) = default;
};

}  // namespace rollcall

#pragma GCC visibility pop

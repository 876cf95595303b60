#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/own_instances.hpp"
#include "redis/task.hpp"

#include "rollcall/cosky/service_registry.hpp"

namespace rollcall::cosky {

/// What is logged when somebody made an own ephemeral instance persistent.
std::string made_persistent(std::string_view id, bool reclaimed);

/// Renews own instances and registers again what is gone.
///
/// Thread safety: the I/O thread only, construction aside.
class RenewalRound {
public:
    static constexpr std::size_t max_instances = 16'384;  ///< Of one run.

    RenewalRound(DiscoveryRedisScripts const& scripts, OwnInstances& own,
                 std::chrono::seconds lease, std::chrono::seconds tolerance, bool reclaim)
        : scripts_(scripts), own_(own), lease_(lease), tolerance_(tolerance), reclaim_(reclaim) {}

    /// One result for each entry, in order; never an error.
    Task<Result<std::vector<Renewal>>> run(std::span<OwnInstances::Entry const> entries,
                                           Deadline deadline);

private:
    using Renewals = std::vector<Renewal>;

    /// The calls, and for each of them which entries it renews.
    struct Plan {
        std::vector<RenewCall> calls = {};
        std::vector<std::vector<std::size_t>> entries = {};
    };
    Plan plan(std::span<OwnInstances::Entry const> entries) const;
    /// What follows from an answer; those to be registered again stay `Renewal::failed`.
    bool must_register(OwnInstances::Entry const& entry, Lease lease, Renewal& renewal);
    Task<void> register_again(std::span<OwnInstances::Entry const> entries,
                              std::span<std::size_t const> lost, Renewals& renewals,
                              Deadline deadline);
    void log_failure(std::string_view what) const;

    DiscoveryRedisScripts const& scripts_;
    OwnInstances& own_;
    std::chrono::seconds lease_;
    std::chrono::seconds tolerance_;
    bool reclaim_;
};

}  // namespace rollcall::cosky

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

/// Reads what is stored of an own instance, in its lane, so that a later registration has its
/// current description. A failure leaves it unsure.
Task<void> read_again(DiscoveryRedisScripts const& scripts, OwnInstances& own,
                      OwnInstances::Entry entry, Deadline deadline);

/// Renews own instances and registers again what is gone.
class RenewalRound {
public:
    struct Settings {
        std::chrono::seconds lease{60};
        std::chrono::seconds tolerance{5};
        bool reclaim = true;
        /// For the whole round. The timeout of a request, when that is longer.
        std::chrono::milliseconds limit{10'000};
        std::size_t wave = 16'384;  ///< Instances that are asked for together.
    };

    RenewalRound(DiscoveryRedisScripts const& scripts, OwnInstances& own, Lanes& lanes,
                 Settings settings)
        : scripts_(scripts), own_(own), lanes_(lanes), settings_(settings) {}

    struct Outcome {
        std::vector<Renewal> renewals = {};  ///< One for each entry, in order.
        std::size_t asked = 0;               ///< So many of them were asked for.
    };
    /// In waves of bounded size. Not on the I/O thread. Waits for no further wave when one was not
    /// answered at all or the limit has passed: who stops the renewals waits for this.
    Outcome run_all(std::span<OwnInstances::Entry const> entries);

    /// One wave, on the I/O thread: one result for each entry, in order. Fails when nothing was
    /// answered.
    Task<Result<std::vector<Renewal>>> run(std::span<OwnInstances::Entry const> entries,
                                           Deadline deadline);

private:
    using Entries = std::span<OwnInstances::Entry const>;
    using Renewals = std::vector<Renewal>;

    /// The calls, and for each of them which entries it renews.
    struct Plan {
        std::vector<RenewCall> calls = {};
        std::vector<std::vector<std::size_t>> entries = {};
    };
    /// Registrations of lost entries, each with the lane of its id.
    struct Batch;

    Plan plan(Entries entries) const;
    /// What follows from an answer; those to be registered again stay `Renewal::failed`.
    bool must_register(OwnInstances::Entry const& entry, Lease lease, Renewal& renewal);
    void add(Batch& batch, Entries entries, std::size_t i, Lanes::Pass pass, Renewals& renewals);
    Task<void> send(Batch& batch, Renewals& renewals, Deadline deadline);
    Task<void> register_again(Entries entries, std::span<std::size_t const> lost,
                              Renewals& renewals, Deadline deadline);
    Task<void> read_unsure(Entries entries, Renewals const& renewals, Deadline deadline);
    void log_failure(std::string_view what) const;

    DiscoveryRedisScripts const& scripts_;
    OwnInstances& own_;
    Lanes& lanes_;
    Settings const settings_;
};

}  // namespace rollcall::cosky

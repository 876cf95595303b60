#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "registry/lanes.hpp"

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/instance.hpp"

namespace rollcall::cosky {

using Lanes = rollcall::Lanes<NamespacedInstanceId>;

/// The ephemeral instances that a registry keeps alive, as they were last described. Decides which
/// registration may put one in here, so that nothing brings back what was deregistered while a
/// registration or a renewal was on its way.
///
/// What is stored and what is kept here stay the same because registrations, deregistrations and
/// descriptions of one id take its lane (see `Lanes`) and tell of their outcome while they have it.
///
/// Thread safety: all members from any thread.
class OwnInstances {
    struct UnderWay {
        bool removal = false;
        bool withdrawn = false;
    };
    using Traffic = std::multimap<NamespacedInstanceId, UnderWay>;

public:
    using Instance = std::shared_ptr<ServiceInstance const>;
    using Time = std::chrono::steady_clock::time_point;

    struct Entry {
        NamespacedInstanceId id = {};
        Instance instance = {};
        std::uint64_t since = 0;  ///< Tells the registration that put it in from later ones.
        /// A write was not answered: `instance` is what it may have made of it. To be read again.
        bool unsure = false;
        bool perhaps_persistent = false;  ///< That write was to make it persistent.
    };

    /// Something with one id is under way, until the end of this object.
    class Operation {
    public:
        Operation(Operation&& other) noexcept
            : owner_(std::exchange(other.owner_, nullptr)), at_(other.at_) {}
        Operation& operator=(Operation&&) = delete;
        ~Operation();

        /// A deregistration was called since this began or, for a renewal, had not ended then.
        bool is_withdrawn() const;

    private:
        friend class OwnInstances;
        Operation(OwnInstances& owner, Traffic::iterator at) : owner_(&owner), at_(at) {}

        OwnInstances* owner_;
        Traffic::iterator at_;
    };

    /// A registration is about to be sent, in the lane of its id.
    Operation registration(NamespacedInstanceId const& id);
    /// The same, to bring back `entry`; none if it was deregistered or registered anew meanwhile.
    std::optional<Operation> registration_again(Entry const& entry);
    /// A renewal was called.
    Operation renewal(NamespacedInstanceId const& id);
    /// A deregistration was called: from now on nothing older brings the instance back.
    Operation removal(NamespacedInstanceId const& id);

    /// The registration, or that of the renewal, was answered with success: an ephemeral instance
    /// is kept from now on, a persistent one no more. False: it was withdrawn.
    bool keep(Operation const& operation, Instance instance, Time now);
    /// It was not answered. What is kept already may have been replaced.
    void doubt(Operation const& operation, Instance instance);

    void erase(NamespacedInstanceId const& id);
    /// Only if it is still the same.
    void erase(Entry const& entry);

    /// Metadata that was stored, or perhaps: all of it, or what was merged into it.
    void describe(NamespacedInstanceId const& id, Metadata const& metadata, bool merge, bool sure);
    /// What a read found stored of it. Ignored when it was registered anew meanwhile.
    void settle(Entry const& entry, ServiceInstance const& stored);

    /// A single renewal is called: the longer of the last two pauses between such calls, the first
    /// of them since the registration. Zero for what is not kept.
    std::chrono::milliseconds pause(NamespacedInstanceId const& id, Time now);

    std::optional<Entry> find(NamespacedInstanceId const& id) const;
    /// Ordered by id, those from `first` on before the others.
    std::vector<Entry> all(NamespacedInstanceId const& first = {}) const;

private:
    struct Kept {
        Instance instance = {};
        std::uint64_t since = 0;
        bool unsure = false;
        bool perhaps_persistent = false;
        Time called = {};  // The registration, or the last single renewal.
        Time::duration pause = Time::duration::zero();  // Before that call.
    };
    using Instances = std::map<NamespacedInstanceId, Kept>;

    Operation begin(NamespacedInstanceId const& id, UnderWay what);
    Instances::iterator same(Entry const& entry);
    static Entry entry_of(Instances::value_type const& kept);

    mutable std::mutex mutex_;
    // Guarded by the mutex.
    std::uint64_t last_ = 0;
    Traffic traffic_;
    Instances instances_;
};

}  // namespace rollcall::cosky

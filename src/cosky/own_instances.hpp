#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/instance.hpp"

namespace rollcall::cosky {

/// The ephemeral instances that a registry keeps alive. Decides which registration may put one in
/// here, so that nothing brings back what was deregistered while a registration was on its way.
///
/// Thread safety: all members from any thread.
class OwnInstances {
public:
    using Instance = std::shared_ptr<ServiceInstance const>;
    using Ticket = std::uint64_t;

    struct Entry {
        NamespacedInstanceId id = {};
        Instance instance = {};  ///< As it was last described.
        Ticket since = 0;  ///< The registration that put it in, which tells it from later ones.
    };

    /// A registration is about to be sent.
    Ticket begin(NamespacedInstanceId const& id);
    /// The same, to bring back `entry`; none if it was deregistered or registered anew meanwhile.
    std::optional<Ticket> begin_again(Entry const& entry);
    enum class Standing {
        stored,     ///< Ephemeral instances are kept from now on, persistent ones no more.
        withdrawn,  ///< It was deregistered meanwhile: what is stored now may have to go.
        undone,     ///< Kept, but an earlier deregistration may have been carried out after it.
    };
    /// The registration was answered with success.
    Standing succeed(Ticket ticket, Instance instance);
    void fail(Ticket ticket);

    /// Before a deregistration is sent. Gives what it is told apart by in `deregistered`.
    Ticket erase(NamespacedInstanceId const& id);
    /// It was answered. True: what was registered since may have been removed by it.
    bool deregistered(NamespacedInstanceId const& id, Ticket since);
    /// Only if it is still the same.
    void erase(Entry const& entry);

    /// Metadata that was stored: all of it, or what was merged into it.
    void describe(NamespacedInstanceId const& id, Metadata const& metadata, bool merge);

    std::optional<Entry> find(NamespacedInstanceId const& id) const;
    bool holds(Entry const& entry) const;
    std::vector<Entry> all() const;  ///< Ordered by id.

private:
    struct Pending {
        NamespacedInstanceId id = {};
        Standing standing = Standing::stored;
    };

    mutable std::mutex mutex_;
    // Guarded by the mutex.
    Ticket last_ = 0;
    std::map<Ticket, Pending> pending_;
    std::map<NamespacedInstanceId, std::pair<Instance, Ticket>> instances_;
};

}  // namespace rollcall::cosky

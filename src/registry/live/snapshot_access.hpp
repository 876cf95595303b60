#pragma once

#include "registry/live/holder.hpp"
#include "registry/live/instance_table.hpp"

#include "rollcall/choice.hpp"
#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// What of a snapshot is not for users.
struct SnapshotAccess {
    /// Of a holder of what an `InstanceTable` shows, one of whose references it takes over.
    static Snapshot make(Holder* adopted) noexcept { return Snapshot{adopted}; }

    /// Null for a snapshot of no service.
    static InstanceTable const* table(Snapshot const& snapshot) noexcept {
        return snapshot.held_ == nullptr ? nullptr : &table(snapshot.shown());
    }
    static InstanceTable const& table(Shown const& shown) noexcept {
        return static_cast<InstanceTable const&>(shown);
    }

    static Holder& holder(Snapshot const& snapshot) noexcept {
        return *static_cast<Holder*>(snapshot.held_);
    }
};

/// Weighted random; see `InstanceTable::choose`. Null when nobody may get traffic.
inline ServiceInstance const* choose(Snapshot const& snapshot, balance::Random& random) noexcept {
    auto const* const table = SnapshotAccess::table(snapshot);
    return table == nullptr ? nullptr : table->choose(random);
}

inline Choice choose(Snapshot snapshot) noexcept {
    auto const* const chosen = choose(snapshot, balance::thread_random());
    return {std::move(snapshot), chosen};
}

}  // namespace rollcall::live

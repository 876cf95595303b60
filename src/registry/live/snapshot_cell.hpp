#pragma once

#include <string>
#include <utility>

#include "registry/live/cell.hpp"
#include "registry/live/instance_table.hpp"
#include "registry/live/snapshot_access.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// The current instances of one service: a feed publishes, anybody reads. Empty at first.
///
/// Cost, thread safety, lifetime: as of `Cell`.
class SnapshotCell {
public:
    explicit SnapshotCell(std::string name)
        : name_(std::move(name)), tables_(InstanceTable::empty_table()) {}

    std::string const& name() const noexcept { return name_; }

    /// Readers see it at once, save those that hold a snapshot. Not null.
    void publish(InstanceTablePtr table) { tables_.publish(std::move(table)); }

    /// Errors: `std::bad_alloc`, after a publication only.
    Snapshot snapshot() const { return SnapshotAccess::make(tables_.get().detach()); }

private:
    std::string const name_;
    Cell<Shown> tables_;  ///< All of them are `InstanceTable`s.
};

}  // namespace rollcall::live

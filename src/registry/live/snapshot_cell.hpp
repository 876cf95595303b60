#pragma once

#include <atomic>
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

    /// By somebody who holds no share of the service; `was_read` forgets it.
    void note_read() const noexcept {
        if (!read_.load(std::memory_order_relaxed)) read_.store(true, std::memory_order_relaxed);
    }
    bool was_read() noexcept { return read_.exchange(false, std::memory_order_relaxed); }

private:
    std::string const name_;
    mutable std::atomic<bool> read_ = false;
    Cell<Shown> tables_;  ///< All of them are `InstanceTable`s.
};

}  // namespace rollcall::live

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "registry/live/cell.hpp"
#include "registry/live/snapshot_cell.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// The cells of services that are read by name.
///
/// Cost of a look-up: a hash, a probe and two reads of cells; no lock, no allocation. Adding and
/// removing copy the index, so that many names are better added at once.
/// Thread safety: all members.
class NameIndex {
public:
    using CellPtr = std::shared_ptr<SnapshotCell>;

    NameIndex();
    ~NameIndex();

    /// Nothing for a name that is not in the index. The cell notes that it was read.
    /// Errors: `std::bad_alloc`, after a publication or a change of the index only.
    std::optional<Snapshot> instances(std::string_view name) const;

    /// Null for a name that is not in the index.
    CellPtr find(std::string_view name) const;

    /// Cells whose names are there take the places of those.
    void add(std::span<CellPtr const> cells);
    void add(CellPtr const& cell) { add(std::span{&cell, 1}); }

    /// Takes out `cell`, unless another has its place meanwhile. Whether it was there.
    bool remove(SnapshotCell const& cell);

private:
    struct Names;

    Cell<Names> names_;
    std::mutex writers_;  ///< What they publish follows from what was there.
};

}  // namespace rollcall::live

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "balance/random.hpp"
#include "registry/live/branch.hpp"
#include "registry/live/chunk.hpp"
#include "registry/live/record.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::live {

class InstanceTable;
using InstanceTablePtr = std::shared_ptr<InstanceTable const>;

/// The instances of a service, by id. Never changes: a change makes a new table, which shares all
/// but one chunk, and what leads to it, with the old one.
///
/// What the snapshots show. Its revision is greater than that of every table made before, in this
/// process, or 0 for the empty one that all begin with. Several changes at once are made by a
/// `TableDraft`.
///
/// Thread safety: all members.
class InstanceTable : public Shown, public std::enable_shared_from_this<InstanceTable> {
public:
    using Group = Branch<Chunk>;
    using Groups = Branch<Group>;

    static InstanceTablePtr empty_table() { return std::make_shared<InstanceTable>(); }

    InstanceTable() = default;
    /// `groups` are sealed.
    InstanceTable(Groups groups, std::size_t with_size, std::uint64_t with_revision)
        : Shown{.size = with_size, .revision = with_revision}, groups_(std::move(groups)) {
        if (groups_.children().empty()) return;
        auto const part = groups_.children().front()->children().front()->instances();
        first = part.data();
        last = first + part.size();
    }
    InstanceTable(InstanceTable const&) = delete;
    InstanceTable& operator=(InstanceTable const&) = delete;

    Record const* find(std::string_view id) const noexcept { return groups_.find(id); }
    Groups const& groups() const noexcept { return groups_; }

    /// One that may get traffic now, in proportion to the weights: enabled, healthy, of a weight
    /// above 0, and suspect only if nobody else is there. None: null.
    ServiceInstance const* choose(balance::Random& random) const noexcept {
        return groups_.shares().any() ? &groups_.choose(random) : nullptr;
    }

    /// With `record`, in place of one with the same id.
    InstanceTablePtr put(RecordPtr record) const;
    /// Without that id; this very table if it is not there.
    InstanceTablePtr erase(std::string_view id) const;

private:
    Groups const groups_;
};

}  // namespace rollcall::live

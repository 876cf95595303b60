#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "registry/live/branch.hpp"
#include "registry/live/chunk.hpp"
#include "registry/live/random.hpp"
#include "registry/live/record.hpp"

namespace rollcall::live {

class InstanceTable;
using InstanceTablePtr = std::shared_ptr<InstanceTable const>;

/// The instances of a service, by id. Never changes: a change makes a new table, which shares all
/// but one chunk, and what leads to it, with the old one.
///
/// What the snapshots show. Several changes at once are made by a `TableDraft`.
/// Thread safety: all members.
class InstanceTable : public std::enable_shared_from_this<InstanceTable> {
public:
    using Group = Branch<Chunk>;
    using Groups = Branch<Group>;

    static InstanceTablePtr empty_table() { return std::make_shared<InstanceTable>(); }

    InstanceTable() = default;
    /// `groups` are sealed.
    InstanceTable(Groups groups, std::size_t size, std::uint64_t revision)
        : size_(size), revision_(revision), first_(first_of(groups)), groups_(std::move(groups)) {}
    InstanceTable(InstanceTable const&) = delete;
    InstanceTable& operator=(InstanceTable const&) = delete;

    std::size_t size() const noexcept { return size_; }
    /// Greater than that of every table made before, in this process; 0 for an empty one of none.
    std::uint64_t revision() const noexcept { return revision_; }
    Record const* find(std::string_view id) const noexcept { return groups_.find(id); }
    Groups const& groups() const noexcept { return groups_; }
    /// What the first chunk has; none in an empty table.
    std::span<ServiceInstance const* const> first() const noexcept { return first_; }

    /// One that may get traffic now, in proportion to the weights: enabled, healthy, of a weight
    /// above 0, and suspect only if nobody else is there. None: null.
    ServiceInstance const* choose(Random& random) const noexcept {
        return groups_.shares().any() ? &groups_.choose(random) : nullptr;
    }

    /// With `record`, in place of one with the same id.
    InstanceTablePtr put(RecordPtr record) const;
    /// Without that id; this very table if it is not there.
    InstanceTablePtr erase(std::string_view id) const;

private:
    static std::span<ServiceInstance const* const> first_of(Groups const& groups) noexcept {
        if (groups.children().empty()) return {};
        return groups.children().front()->children().front()->instances();
    }

    std::size_t const size_ = 0;
    std::uint64_t const revision_ = 0;
    // Spares most readers the way through the levels: each costs a line of the cache.
    std::span<ServiceInstance const* const> const first_;
    Groups const groups_;
};

}  // namespace rollcall::live

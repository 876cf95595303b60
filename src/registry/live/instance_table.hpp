#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/candidates.hpp"
#include "balance/plan.hpp"
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
    ~InstanceTable();
    InstanceTable(InstanceTable const&) = delete;
    InstanceTable& operator=(InstanceTable const&) = delete;

    Record const* find(std::string_view id) const noexcept { return groups_.find(id); }
    Groups const& groups() const noexcept { return groups_; }

    /// One that may get traffic now, in proportion to the weights: enabled, healthy, of a weight
    /// above 0, and suspect only if nobody else is there. None: null.
    ServiceInstance const* choose(balance::Random& random) const noexcept {
        return groups_.shares().any() ? &groups_.choose(random) : nullptr;
    }

    /// Those who may get traffic, prepared for the choices of a plan: made when first asked for,
    /// unless they were prepared. Errors: `std::bad_alloc`, then only.
    balance::Candidates const& candidates(balance::PlanPtr const& plan) const {
        auto const* const known = find_candidates(*plan);
        return known == nullptr ? make_candidates(plan, nullptr) : *known;
    }
    /// Makes them from what the table had that this one takes the place of. By its writer, before
    /// anybody reads it.
    void prepare_candidates(balance::PlanPtr const& plan, InstanceTable const& before) const {
        make_candidates(plan, before.find_candidates(*plan));
    }

    /// With `record`, in place of one with the same id.
    InstanceTablePtr put(RecordPtr record) const;
    /// Without that id; this very table if it is not there.
    InstanceTablePtr erase(std::string_view id) const;

private:
    /// One plan's. Of few: a service has as many as its handles have different options.
    struct Prepared {
        balance::Candidates candidates;
        Prepared const* next;
    };

    balance::Candidates const* find_candidates(balance::Plan const& plan) const noexcept {
        auto const* one = prepared_.load(std::memory_order_acquire);
        while (one != nullptr && &one->candidates.plan() != &plan) one = one->next;
        return one == nullptr ? nullptr : &one->candidates;
    }
    balance::Candidates const& make_candidates(balance::PlanPtr const& plan,
                                               balance::Candidates const* before) const;
    std::vector<balance::Member> members() const;

    Groups const groups_;
    // Only ever grows, at its front.
    mutable std::atomic<Prepared const*> prepared_ = nullptr;
};

}  // namespace rollcall::live

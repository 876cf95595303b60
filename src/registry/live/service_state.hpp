#pragma once

#include <memory>
#include <utility>

#include "balance/candidates.hpp"
#include "balance/plan.hpp"
#include "balance/turns.hpp"
#include "core/result.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/snapshot_access.hpp"
#include "registry/live/snapshot_cell.hpp"

#include "rollcall/service.hpp"

namespace rollcall::live {

/// Errors: `std::invalid_argument` names the field, the value and the rule.
void validate(ServiceOptions const& options);

/// What the handles of a service share.
struct ServiceState {
    ServiceState(std::shared_ptr<Directory::Use> watched, ServiceOptions const& given);

    Result<Snapshot> instances() const;
    /// Of `snapshot`. Errors: `std::bad_alloc`, after a publication only.
    Choice choose(Snapshot snapshot, ChooseOptions const& wanted) const {
        if (by_weight_only && wanted.exclude.empty()) return live::choose(std::move(snapshot));
        return choose_by_plan(std::move(snapshot), wanted);
    }

    struct Picked {
        balance::Candidates const* from = nullptr;
        balance::Candidate const* candidate = nullptr;  ///< Null: nobody.
    };
    Picked pick(Snapshot const& snapshot, ChooseOptions const& wanted,
                balance::Moment& moment) const;

    std::shared_ptr<Directory::Use> const use;
    std::shared_ptr<SnapshotCell> const cell;  // Of the service: one step less for readers.
    ServiceOptions const options;
    balance::PlanPtr const plan;
    bool const by_weight_only;                    ///< So that the table itself can choose.
    std::unique_ptr<balance::Turns> const turns;  ///< Null, unless it chooses in turn.

private:
    Choice choose_by_plan(Snapshot snapshot, ChooseOptions const& wanted) const;
};

/// What of the options says how to choose.
balance::Policy policy_of(ServiceOptions const& options);

/// A listener somewhere; its end takes it away.
struct WatchState {
    WatchState() = default;
    virtual ~WatchState() = default;
    WatchState(WatchState const&) = delete;
    WatchState& operator=(WatchState const&) = delete;
};

}  // namespace rollcall::live

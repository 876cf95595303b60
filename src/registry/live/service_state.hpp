#pragma once

#include <memory>

#include "core/result.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/snapshot_cell.hpp"

#include "rollcall/service.hpp"

namespace rollcall::live {

/// Errors: `std::invalid_argument` names the field, the value and the rule.
void validate(ServiceOptions const& options);

/// What the handles of a service share.
struct ServiceState {
    ServiceState(std::shared_ptr<Directory::Use> watched, ServiceOptions const& given)
        : use(std::move(watched)), cell(use->service().cell()), options(given) {}

    Result<Snapshot> instances() const;

    std::shared_ptr<Directory::Use> const use;
    std::shared_ptr<SnapshotCell> const cell;  // Of the service: one step less for readers.
    ServiceOptions const options;
};

/// A listener somewhere; its end takes it away.
struct WatchState {
    WatchState() = default;
    virtual ~WatchState() = default;
    WatchState(WatchState const&) = delete;
    WatchState& operator=(WatchState const&) = delete;
};

}  // namespace rollcall::live

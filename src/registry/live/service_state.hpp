#pragma once

#include <functional>
#include <memory>

#include "core/result.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/listener.hpp"
#include "registry/live/snapshot_cell.hpp"

#include "rollcall/service.hpp"

namespace rollcall::live {

/// What the handles of a service share.
struct ServiceState {
    ServiceState(std::shared_ptr<Directory::Use> watched, ServiceOptions const& given)
        : use(std::move(watched)), cell(use->service().cell()), options(given) {}

    Result<Snapshot> instances() const;

    std::shared_ptr<Directory::Use> const use;
    std::shared_ptr<SnapshotCell> const cell;  // Of the service: one step less for readers.
    ServiceOptions const options;
};

/// A listener at a service.
struct WatchState {
    WatchState(std::shared_ptr<Directory::Use> watched,
               std::function<void(Change const&)> callback);
    ~WatchState();
    WatchState(WatchState const&) = delete;
    WatchState& operator=(WatchState const&) = delete;

    std::shared_ptr<Directory::Use> const use;
    std::shared_ptr<Listener> const listener;
};

}  // namespace rollcall::live

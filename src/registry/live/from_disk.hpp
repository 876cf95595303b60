#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "registry/disk/saved_service.hpp"
#include "registry/live/instance_table.hpp"
#include "registry/live/service_feed.hpp"

namespace rollcall::live {

/// The saved form of what readers see of a service.
disk::SavedService saved(std::string service, Snapshot const& snapshot,
                         std::chrono::milliseconds age);

/// What is shown of a service that was read from disk, until Redis answers. All of it is suspect;
/// the feed never hears of it, so that nothing is ever concluded from it.
class FromDisk {
public:
    explicit FromDisk(disk::SavedService const& saved);

    InstanceTablePtr const& table() const noexcept { return table_; }
    /// When Redis confirmed it, on our monotonic clock: maybe before that began.
    std::chrono::steady_clock::time_point confirmed_at() const noexcept { return confirmed_at_; }

    /// For those who listen from now on.
    std::vector<FeedChange> present() const;
    /// What becomes of it when `now` takes its place.
    FeedOutcome replaced_by(ServiceFeed::Instances const& now) const;

private:
    std::map<std::string, std::shared_ptr<ServiceInstance const>, std::less<>> instances_;
    InstanceTablePtr table_;
    std::chrono::steady_clock::time_point confirmed_at_;
};

}  // namespace rollcall::live

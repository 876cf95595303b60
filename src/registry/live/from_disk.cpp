#include "registry/live/from_disk.hpp"

#include <utility>

#include "registry/live/snapshot_access.hpp"
#include "registry/live/table_draft.hpp"

namespace rollcall::live {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using std::chrono::system_clock;

/// Takes moments from one of this machine's clocks to the other.
struct Clocks {
    steady_clock::time_point steady = steady_clock::now();
    system_clock::time_point system = system_clock::now();

    system_clock::time_point wall(steady_clock::time_point at) const {
        return system + duration_cast<system_clock::duration>(at - steady);
    }
    steady_clock::time_point monotonic(system_clock::time_point at) const {
        return steady + duration_cast<steady_clock::duration>(at - system);
    }
};

InstanceState state_of(disk::SavedInstance const& saved, Clocks const& clocks) {
    InstanceState state;
    state.registered_at = saved.registered_at;
    state.last_heartbeat_at = saved.last_heartbeat_at;
    if (saved.lease_until) state.lease_until = clocks.monotonic(*saved.lease_until);
    state.suspect = true;
    return state;
}

}  // namespace

disk::SavedService saved(std::string service, Snapshot const& snapshot,
                         std::chrono::milliseconds age) {
    Clocks const clocks;
    disk::SavedService result;
    result.service = std::move(service);
    result.confirmed_at = clocks.system - age;
    result.instances.reserve(snapshot.size());
    auto const* const table = SnapshotAccess::table(snapshot);
    for (auto const& instance : snapshot) {
        auto const& record = *table->find(instance.instance_id);
        auto const state = record.vitals->get();
        disk::SavedInstance one;
        one.instance = record.instance;
        one.registered_at = state.registered_at;
        one.last_heartbeat_at = state.last_heartbeat_at;
        if (state.lease_until) one.lease_until = clocks.wall(*state.lease_until);
        result.instances.push_back(std::move(one));
    }
    return result;
}

FromDisk::FromDisk(disk::SavedService const& saved) {
    Clocks const clocks;
    confirmed_at_ = clocks.monotonic(saved.confirmed_at);
    TableDraft draft{*InstanceTable::empty_table()};
    for (auto const& one : saved.instances) {
        auto vitals = std::make_shared<Vitals>(state_of(one, clocks));
        draft.put(make_record(one.instance, std::move(vitals)));
        instances_.emplace(one.instance->instance_id, one.instance);
    }
    table_ = std::move(draft).finish();
}

std::vector<FeedChange> FromDisk::present() const {
    std::vector<FeedChange> all;
    for (auto const& [id, instance] : instances_) {
        all.push_back({ChangeKind::current, RemovalReason::none, id, instance, {}});
    }
    return all;
}

FeedOutcome FromDisk::replaced_by(ServiceFeed::Instances const& now) const {
    FeedOutcome outcome;
    for (auto const& [id, before] : instances_) {
        auto const found = now.find(id);
        if (found == now.end()) {
            outcome.changes.push_back(
                {ChangeKind::removed, RemovalReason::absent_after_resync, id, before, {}});
        } else {
            outcome.changes.push_back(
                {ChangeKind::updated, RemovalReason::none, id, found->second.instance, before});
        }
    }
    for (auto const& [id, known] : now) {
        if (instances_.contains(id)) continue;
        outcome.changes.push_back({ChangeKind::added, RemovalReason::none, id, known.instance, {}});
    }
    return outcome;
}

}  // namespace rollcall::live

#include "rollcall/snapshot.hpp"

#include "registry/live/snapshot_access.hpp"

namespace rollcall {

using live::SnapshotAccess;

Snapshot::Snapshot(Snapshot const& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) SnapshotAccess::holder(*this).retain();
}

void Snapshot::release() noexcept { SnapshotAccess::holder(*this).release(); }

ServiceInstance const* Snapshot::find(std::string_view instance_id) const noexcept {
    auto const* const table = SnapshotAccess::table(*this);
    auto const* const record = table == nullptr ? nullptr : table->find(instance_id);
    return record == nullptr ? nullptr : record->instance.get();
}

std::optional<InstanceState> Snapshot::state(std::string_view instance_id) const noexcept {
    auto const* const table = SnapshotAccess::table(*this);
    auto const* const record = table == nullptr ? nullptr : table->find(instance_id);
    if (record == nullptr) return std::nullopt;
    return record->vitals->get();
}

void Snapshot::const_iterator::enter_next_part() noexcept {
    auto const& groups = SnapshotAccess::table(*shown_).groups().children();
    if (next_in_group_ == groups[group_]->width()) {
        ++group_;
        next_in_group_ = 0;
    }
    if (group_ == groups.size()) {
        *this = {};
        return;
    }
    auto const instances = groups[group_]->children()[next_in_group_++]->instances();
    at_ = instances.data();
    last_ = at_ + instances.size();
}

}  // namespace rollcall

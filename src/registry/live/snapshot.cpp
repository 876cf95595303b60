#include "rollcall/snapshot.hpp"

#include "registry/live/snapshot_access.hpp"

namespace rollcall {

using live::SnapshotAccess;

Snapshot::Snapshot(Snapshot const& other) noexcept : holder_(other.holder_) {
    if (holder_ != nullptr) holder_->retain();
}

void Snapshot::release() noexcept { holder_->release(); }

Snapshot::const_iterator Snapshot::begin() const noexcept {
    auto const* const table = SnapshotAccess::table(*this);
    return table == nullptr ? end() : const_iterator{*table};
}

std::size_t Snapshot::size() const noexcept {
    auto const* const table = SnapshotAccess::table(*this);
    return table == nullptr ? 0 : table->size();
}

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

std::uint64_t Snapshot::revision() const noexcept {
    auto const* const table = SnapshotAccess::table(*this);
    return table == nullptr ? 0 : table->revision();
}

Snapshot::const_iterator::const_iterator(live::InstanceTable const& table) noexcept
    : at_(table.first().data()), last_(at_ + table.first().size()), table_(&table) {}

void Snapshot::const_iterator::enter_next_part() noexcept {
    auto const& groups = table_->groups().children();
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

#include "cosky/own_instances.hpp"

#include <algorithm>

namespace rollcall::cosky {

OwnInstances::Operation::~Operation() {
    if (!owner_) return;
    std::lock_guard const lock{owner_->mutex_};
    owner_->traffic_.erase(at_);
}

bool OwnInstances::Operation::is_withdrawn() const {
    std::lock_guard const lock{owner_->mutex_};
    return at_->second.withdrawn;
}

OwnInstances::Operation OwnInstances::begin(NamespacedInstanceId const& id, UnderWay what) {
    return {*this, traffic_.emplace(id, what)};
}

OwnInstances::Operation OwnInstances::registration(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    return begin(id, {});
}

std::optional<OwnInstances::Operation> OwnInstances::registration_again(Entry const& entry) {
    std::lock_guard const lock{mutex_};
    if (same(entry) == instances_.end()) return std::nullopt;
    return begin(entry.id, {});
}

OwnInstances::Operation OwnInstances::renewal(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    auto const [first, last] = traffic_.equal_range(id);
    bool const leaving =
        std::any_of(first, last, [](auto const& other) { return other.second.removal; });
    return begin(id, {false, leaving});
}

OwnInstances::Operation OwnInstances::removal(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    instances_.erase(id);
    auto const [first, last] = traffic_.equal_range(id);
    std::for_each(first, last, [](auto& other) { other.second.withdrawn = true; });
    return begin(id, {true, false});
}

bool OwnInstances::keep(Operation const& operation, Instance instance, Time now) {
    std::lock_guard const lock{mutex_};
    auto const& [id, under_way] = *operation.at_;
    if (under_way.withdrawn) return false;
    if (instance->ephemeral) {
        instances_.insert_or_assign(id, Kept{std::move(instance), ++last_, false, false, now});
    } else {
        instances_.erase(id);
    }
    return true;
}

void OwnInstances::doubt(Operation const& operation, Instance instance) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(operation.at_->first);
    if (at == instances_.end()) return;
    auto& kept = at->second;
    kept.unsure = true;
    if (instance->ephemeral) {
        kept.instance = std::move(instance);
    } else {
        kept.perhaps_persistent = true;
    }
}

void OwnInstances::erase(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    instances_.erase(id);
}

void OwnInstances::erase(Entry const& entry) {
    std::lock_guard const lock{mutex_};
    auto const at = same(entry);
    if (at != instances_.end()) instances_.erase(at);
}

void OwnInstances::describe(NamespacedInstanceId const& id, Metadata const& metadata, bool merge,
                            bool sure) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(id);
    if (at == instances_.end()) return;
    auto& kept = at->second;
    auto described = *kept.instance;
    if (!merge) described.metadata.clear();
    for (auto const& [key, value] : metadata) described.metadata.insert_or_assign(key, value);
    kept.instance = std::make_shared<ServiceInstance const>(std::move(described));
    if (!sure) kept.unsure = true;
}

void OwnInstances::settle(Entry const& entry, ServiceInstance const& stored) {
    std::lock_guard const lock{mutex_};
    auto const at = same(entry);
    if (at == instances_.end()) return;
    auto& kept = at->second;
    auto described = *kept.instance;
    described.weight = stored.weight;
    described.metadata = stored.metadata;
    kept.instance = std::make_shared<ServiceInstance const>(std::move(described));
    kept.unsure = false;
    kept.perhaps_persistent = false;
}

std::chrono::milliseconds OwnInstances::pause(NamespacedInstanceId const& id, Time now) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(id);
    if (at == instances_.end()) return {};
    auto& kept = at->second;
    auto const pause = now - std::exchange(kept.called, now);
    auto const longer = std::max(pause, std::exchange(kept.pause, pause));
    return std::chrono::ceil<std::chrono::milliseconds>(longer);
}

std::optional<OwnInstances::Entry> OwnInstances::find(NamespacedInstanceId const& id) const {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(id);
    if (at == instances_.end()) return std::nullopt;
    return entry_of(*at);
}

std::vector<OwnInstances::Entry> OwnInstances::all(NamespacedInstanceId const& first) const {
    std::lock_guard const lock{mutex_};
    std::vector<Entry> entries;
    entries.reserve(instances_.size());
    auto const middle = instances_.lower_bound(first);
    for (auto at = middle; at != instances_.end(); ++at) entries.push_back(entry_of(*at));
    for (auto at = instances_.begin(); at != middle; ++at) entries.push_back(entry_of(*at));
    return entries;
}

OwnInstances::Instances::iterator OwnInstances::same(Entry const& entry) {
    auto const at = instances_.find(entry.id);
    return at != instances_.end() && at->second.since == entry.since ? at : instances_.end();
}

OwnInstances::Entry OwnInstances::entry_of(Instances::value_type const& kept) {
    auto const& [id, what] = kept;
    return {id, what.instance, what.since, what.unsure, what.perhaps_persistent};
}

}  // namespace rollcall::cosky

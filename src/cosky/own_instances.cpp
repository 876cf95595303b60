#include "cosky/own_instances.hpp"

namespace rollcall::cosky {

OwnInstances::Ticket OwnInstances::begin(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    pending_[++last_].id = id;
    return last_;
}

std::optional<OwnInstances::Ticket> OwnInstances::begin_again(Entry const& entry) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(entry.id);
    if (at == instances_.end() || at->second.second != entry.since) return std::nullopt;
    pending_[++last_].id = entry.id;
    return last_;
}

OwnInstances::Standing OwnInstances::succeed(Ticket ticket, Instance instance) {
    std::lock_guard const lock{mutex_};
    auto const pending = pending_.extract(ticket);
    auto const standing = pending.mapped().standing;
    if (standing == Standing::withdrawn) return standing;
    auto const& id = pending.mapped().id;
    if (instance->ephemeral) {
        instances_.insert_or_assign(id, std::pair{std::move(instance), ticket});
    } else {
        instances_.erase(id);
    }
    return standing;
}

void OwnInstances::fail(Ticket ticket) {
    std::lock_guard const lock{mutex_};
    pending_.erase(ticket);
}

OwnInstances::Ticket OwnInstances::erase(NamespacedInstanceId const& id) {
    std::lock_guard const lock{mutex_};
    instances_.erase(id);
    for (auto& [ticket, pending] : pending_) {
        if (pending.id == id) pending.standing = Standing::withdrawn;
    }
    return ++last_;
}

bool OwnInstances::deregistered(NamespacedInstanceId const& id, Ticket since) {
    std::lock_guard const lock{mutex_};
    for (auto at = pending_.upper_bound(since); at != pending_.end(); ++at) {
        auto& pending = at->second;
        if (pending.id == id && pending.standing == Standing::stored) {
            pending.standing = Standing::undone;
        }
    }
    auto const at = instances_.find(id);
    return at != instances_.end() && at->second.second > since;
}

void OwnInstances::erase(Entry const& entry) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(entry.id);
    if (at != instances_.end() && at->second.second == entry.since) instances_.erase(at);
}

void OwnInstances::describe(NamespacedInstanceId const& id, Metadata const& metadata, bool merge) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(id);
    if (at == instances_.end()) return;
    auto described = *at->second.first;
    if (!merge) described.metadata.clear();
    for (auto const& [key, value] : metadata) described.metadata.insert_or_assign(key, value);
    at->second.first = std::make_shared<ServiceInstance const>(std::move(described));
}

std::optional<OwnInstances::Entry> OwnInstances::find(NamespacedInstanceId const& id) const {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(id);
    if (at == instances_.end()) return std::nullopt;
    return Entry{id, at->second.first, at->second.second};
}

bool OwnInstances::holds(Entry const& entry) const {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(entry.id);
    return at != instances_.end() && at->second.second == entry.since;
}

std::vector<OwnInstances::Entry> OwnInstances::all() const {
    std::lock_guard const lock{mutex_};
    std::vector<Entry> entries;
    entries.reserve(instances_.size());
    for (auto const& [id, kept] : instances_) entries.push_back({id, kept.first, kept.second});
    return entries;
}

}  // namespace rollcall::cosky

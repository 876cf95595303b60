#include "support/reference_model.hpp"

#include <algorithm>
#include <cctype>

#include "rollcall/protocol.hpp"

namespace rollcall::test {

namespace {

std::string flag(bool on) { return on ? "true" : "false"; }

bool is_true(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text == "true";
}

std::string const* find(std::map<std::string, std::string> const& fields,
                        std::string const& field) {
    auto const found = fields.find(field);
    return found == fields.end() ? nullptr : &found->second;
}

/// A missing mark means ephemeral.
bool is_ephemeral(std::map<std::string, std::string> const& fields) {
    auto const* text = find(fields, "ephemeral");
    return !text || is_true(*text);
}

}  // namespace

std::vector<std::string> ReferenceModel::ordered(std::string const& service) const {
    std::vector<std::pair<double, std::string>> entries;
    auto const found = state_.heartbeats.find(service);
    if (found != state_.heartbeats.end()) {
        for (auto const& [id, score] : found->second) entries.emplace_back(score, id);
    }
    std::sort(entries.begin(), entries.end());
    std::vector<std::string> ids;
    for (auto const& entry : entries) ids.push_back(entry.second);
    return ids;
}

void ReferenceModel::remove_member(std::string const& service, std::string const& id) {
    auto const found = state_.heartbeats.find(service);
    if (found == state_.heartbeats.end()) return;
    found->second.erase(id);
    if (found->second.empty()) state_.heartbeats.erase(found);
}

bool ReferenceModel::is_described(std::string const& service, std::string const& id) const {
    auto const found = state_.hashes.find({service, id});
    return found != state_.hashes.end() && found->second.fields.contains("host");
}

void ReferenceModel::announce(std::string_view action, std::string const& service,
                              std::string const& id, std::optional<ServiceInstance> const& instance,
                              long long now) {
    messages_.push_back({prefix_ + ":services:" + service + ":changes",
                         message_text(action, service, id, instance, now)});
}

bool ReferenceModel::register_instance(ServiceInstance const& instance, long long now,
                                       long long ttl) {
    auto const& service = instance.service_name;
    auto const& id = instance.instance_id;
    bool const existed = is_described(service, id);
    auto const time = std::to_string(now);
    state_.index.insert(service);
    state_.heartbeats[service][id] = static_cast<double>(now);
    auto& hash = state_.hashes[{service, id}];
    hash.fields["host"] = instance.host;
    if (instance.host.empty()) hash.fields.erase("host");
    hash.fields["port"] = std::to_string(effective_port(instance.scheme, instance.port));
    hash.fields["protocol"] = instance.scheme;
    hash.fields["enabled"] = flag(instance.enabled);
    hash.fields["healthy"] = flag(instance.healthy);
    hash.fields["ephemeral"] = flag(instance.ephemeral);
    hash.fields["weight"] = std::to_string(instance.weight);
    hash.fields["metadata"] = stored_metadata(instance.metadata);
    for (auto const* field : {"registrationTime", "lastHeartbeatTime", "lastMetadataUpdate"}) {
        hash.fields[field] = time;
    }
    hash.ttl = instance.ephemeral ? ttl : 0;
    announce(existed ? "UPDATED" : "ADDED", service, id, instance, now);
    return existed;
}

bool ReferenceModel::deregister(ServiceInstance const& instance, long long now) {
    auto const& service = instance.service_name;
    auto const& id = instance.instance_id;
    bool const existed = is_described(service, id);
    remove_member(service, id);
    state_.hashes.erase({service, id});
    if (!state_.heartbeats.contains(service)) state_.index.erase(service);
    announce("REMOVED", service, id, instance, now);
    return existed;
}

bool ReferenceModel::heartbeat(ServiceInstance const& instance, bool describing, long long now,
                               long long ttl) {
    auto const& service = instance.service_name;
    auto const& id = instance.instance_id;
    if (!is_described(service, id)) return false;
    auto const time = std::to_string(now);
    auto& hash = state_.hashes[{service, id}];
    state_.heartbeats[service][id] = static_cast<double>(now);
    hash.fields["lastHeartbeatTime"] = time;
    if (is_ephemeral(hash.fields)) {
        if (ttl > 0) hash.ttl = ttl;
    } else if (auto const* healthy = find(hash.fields, "healthy"); healthy && !is_true(*healthy)) {
        hash.fields["healthy"] = "true";
    }
    if (describing) {
        hash.fields["metadata"] = verbatim_metadata(instance.metadata);
        hash.fields["lastMetadataUpdate"] = time;
        announce("UPDATED", service, id, instance, now);
    }
    return true;
}

std::vector<std::string> ReferenceModel::cleanup(std::string const& service, long long now,
                                                 long long timeout) {
    std::vector<std::string> removed;
    for (auto const& id : ordered(service)) {
        if (!(state_.heartbeats.at(service).at(id) < static_cast<double>(now - timeout))) continue;
        auto const hash = state_.hashes.find({service, id});
        auto const fields = hash == state_.hashes.end() ? Fields{} : hash->second.fields;
        if (!is_ephemeral(fields)) {
            hash->second.fields["healthy"] = "false";
            continue;
        }
        removed.push_back(id);
        announce("REMOVED", service, id, instance_of_fields(service, id, fields, true), now);
    }
    for (auto const& id : removed) {
        remove_member(service, id);
        state_.hashes.erase({service, id});
    }
    if (!state_.heartbeats.contains(service)) state_.index.erase(service);
    return removed;
}

std::vector<std::string> ReferenceModel::active(std::string const& service, long long now,
                                                long long timeout) const {
    auto ids = ordered(service);
    std::erase_if(ids, [&](std::string const& id) {
        return !(state_.heartbeats.at(service).at(id) > static_cast<double>(now - timeout));
    });
    return ids;
}

std::vector<std::string> ReferenceModel::query(std::string const& service, long long now,
                                               long long timeout, Filters const& metadata,
                                               Filters const& metrics) const {
    auto ids = active(service, now, timeout);
    if (metadata.empty() && metrics.empty()) return ids;
    std::erase_if(ids, [&](std::string const& id) {
        auto const hash = state_.hashes.find({service, id});
        auto const document = [&](std::string const& field) -> std::optional<std::string> {
            if (hash == state_.hashes.end()) return {};
            auto const* text = find(hash->second.fields, field);
            return text ? std::optional{*text} : std::nullopt;
        };
        return !meets(document("metadata"), metadata) || !meets(document("metrics"), metrics);
    });
    return ids;
}

std::vector<ServiceInstance> ReferenceModel::instances(std::string const& service) const {
    std::vector<ServiceInstance> found;
    for (auto const& id : ordered(service)) {
        auto const hash = state_.hashes.find({service, id});
        if (hash == state_.hashes.end()) continue;
        auto instance = instance_of_fields(service, id, hash->second.fields, false);
        if (instance) found.push_back(std::move(*instance));
    }
    return found;
}

bool ReferenceModel::update(std::string const& service, std::string const& id,
                            std::map<std::string, std::string> const& fields, long long now) {
    if (!is_described(service, id)) return false;
    auto& hash = state_.hashes[{service, id}];
    for (auto const& [field, value] : fields) hash.fields[field] = value;
    if (fields.contains("metadata")) hash.fields["lastMetadataUpdate"] = std::to_string(now);
    return true;
}

void ReferenceModel::announce_update(ServiceInstance const& instance, long long now) {
    announce("UPDATED", instance.service_name, instance.instance_id, instance, now);
}

bool ReferenceModel::remove_phantom(std::string const& service, std::string const& id) {
    if (!state_.hashes.contains({service, id}) || is_described(service, id)) return false;
    state_.hashes.erase({service, id});
    remove_member(service, id);
    if (!state_.heartbeats.contains(service)) state_.index.erase(service);
    return true;
}

void ReferenceModel::remove_hash(std::string const& service, std::string const& id) {
    state_.hashes.erase({service, id});
}

void ReferenceModel::set_ttl(std::string const& service, std::string const& id, long long ttl) {
    auto const found = state_.hashes.find({service, id});
    if (found != state_.hashes.end()) found->second.ttl = ttl;
}

void ReferenceModel::set_field(std::string const& service, std::string const& id,
                               std::string const& field, std::string const& value) {
    state_.hashes[{service, id}].fields[field] = value;
}

void ReferenceModel::remove_field(std::string const& service, std::string const& id,
                                  std::string const& field) {
    auto const found = state_.hashes.find({service, id});
    if (found == state_.hashes.end()) return;
    found->second.fields.erase(field);
    if (found->second.fields.empty()) state_.hashes.erase(found);
}

void ReferenceModel::add_member(std::string const& service, std::string const& id, double score) {
    state_.heartbeats[service][id] = score;
}

void ReferenceModel::add_to_index(std::string const& service) { state_.index.insert(service); }

void ReferenceModel::remove_from_index(std::string const& service) { state_.index.erase(service); }

}  // namespace rollcall::test

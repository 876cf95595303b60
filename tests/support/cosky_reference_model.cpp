#include "support/cosky_reference_model.hpp"

#include <algorithm>

namespace rollcall::cosky::test {

namespace {

using golden::Expiry;
using golden::LiveKey;
using golden::Type;

std::string const renewal{renewal_field};

bool is_metadata(std::string const& field) {
    return field.starts_with('_') && !field.starts_with("__");
}

void write_metadata(LiveKey& hash, Metadata const& metadata) {
    for (auto const& [key, value] : metadata) hash.fields['_' + key] = value;
}

void clear_metadata(LiveKey& hash) {
    std::erase_if(hash.fields, [](auto const& entry) { return is_metadata(entry.first); });
}

bool is_digits(std::string const& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Rule 17.7 of the specification; seconds.
long long tolerance_of(long long lease, long long period) {
    return std::max(5LL, std::min(lease - 1, 2 * period + 2));
}

// The period that a renewal outside a round reckons with.
constexpr long long usual_period = 10;

/// A Java int: an optional sign and digits, within 32 bits.
std::optional<int> java_int(std::string const& text) {
    auto const digits = text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
    if (!is_digits(digits) || digits.size() > 18) return {};
    auto const value = std::stoll(text);
    if (value < -2'147'483'648LL || value > 2'147'483'647LL) return {};
    return static_cast<int>(value);
}

bool is_true(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), ::tolower);
    return text == "true";
}

/// IPv6 addresses are stored in brackets.
std::string in_brackets(std::string const& host) {
    return host.find(':') == std::string::npos ? host : '[' + host + ']';
}

std::string without_brackets(std::string const& host) {
    bool const bracketed = host.starts_with('[') && host.ends_with(']');
    return bracketed ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

std::set<std::string> ReferenceModel::members(std::string const& key) const {
    auto const found = keys_.find(key);
    return found == keys_.end() ? std::set<std::string>{} : found->second.members;
}

bool ReferenceModel::add_member(std::string const& key, std::string const& member) {
    auto& set = keys_[key];
    set.type = Type::set;
    return set.members.insert(member).second;
}

bool ReferenceModel::remove_member(std::string const& key, std::string const& member) {
    auto const found = keys_.find(key);
    if (found == keys_.end() || found->second.members.erase(member) == 0) return false;
    if (found->second.members.empty()) keys_.erase(found);
    return true;
}

golden::LiveKey* ReferenceModel::hash(std::string const& id) {
    auto const found = keys_.find(hash_key(id));
    return found == keys_.end() ? nullptr : &found->second;
}

ReferenceModel::Told ReferenceModel::register_instance(std::size_t process,
                                                       ServiceInstance const& instance) {
    auto const& id = instance.instance_id;
    auto const key = hash_key(id);
    auto const* const old = hash(id);
    // Redis refuses what is no Hash: nothing is written at all.
    if (old && old->type == Type::other) return {};
    add_member(list_key(instance.service_name), id);
    (void)set_service(instance.service_name);

    auto& stored = keys_[key];
    clear_metadata(stored);
    stored.fields.erase(renewal);
    stored.fields["instanceId"] = id;
    stored.fields["serviceId"] = instance.service_name;
    stored.fields["schema"] = instance.scheme;
    stored.fields["host"] = in_brackets(instance.host);
    stored.fields["port"] = std::to_string(instance.port);
    stored.fields["weight"] = std::to_string(instance.weight);
    stored.fields["ephemeral"] = instance.ephemeral ? "true" : "false";
    write_metadata(stored, instance.metadata);
    auto& self = processes_.at(process);
    stored.expiry = instance.ephemeral ? Expiry::set_in_step(self.lease) : Expiry{};
    announce(key, "register");
    self.own.erase(id);
    if (instance.ephemeral) self.own[id] = instance;
    return true;
}

ReferenceModel::Told ReferenceModel::deregister(std::size_t process, std::string const& service,
                                                std::string const& id) {
    // Under another service than its own it may be listed by a peer: that is removed, no more.
    if (id.starts_with(service + '@')) processes_.at(process).own.erase(id);
    if (!remove_member(list_key(service), id)) return false;
    keys_.erase(hash_key(id));
    announce(hash_key(id), "deregister");
    return true;
}

ReferenceModel::Lease ReferenceModel::renew_hash(ServiceInstance const& instance, long long lease,
                                                 long long tolerance) {
    auto const& id = instance.instance_id;
    auto* const stored = hash(id);
    if (!stored) return Lease::missing;
    bool const has_lease = stored->expiry.kind == Expiry::Kind::at;
    auto const until = stored->expiry.value;
    auto const left = (until - now_ + 500) / 1'000;
    if (has_lease && left <= 0) return Lease::ending;
    if (stored->type == Type::other) return Lease::wrong_type;
    if (!belongs_to(instance.service_name, id)) return Lease::missing;
    // Defect 11: a service that was dropped is listed again.
    (void)set_service(instance.service_name);
    if (!has_lease) return Lease::persistent;
    auto& fields = stored->fields;
    stored->expiry = Expiry::set_in_step(lease);
    auto const known = fields.find(renewal);
    bool const is_known = known != fields.end() && is_digits(known->second);
    auto const now = now_ / 1'000;
    auto const last = is_known ? std::stoll(known->second) : now + left;
    if (now > last - tolerance) {
        fields[renewal] = "{{sec+" + std::to_string(lease) + "}}";
        announce(hash_key(id), "renew");
    } else if (!is_known) {
        fields[renewal] = golden::lease_mark(until);
    }
    return Lease::renewed;
}

bool ReferenceModel::renew_only(std::size_t process, ServiceInstance const& instance,
                                long long period) {
    auto const lease = processes_.at(process).lease;
    return renew_hash(instance, lease, tolerance_of(lease, period)) == Lease::renewed;
}

void ReferenceModel::settle() {
    golden::settle(keys_, now_);
    for (auto& [key, live] : keys_) {
        auto const known = live.fields.find(renewal);
        if (known == live.fields.end()) continue;
        if (auto const end = golden::leased_until(known->second)) {
            known->second = std::to_string((*end + 500) / 1'000);
        }
    }
}

void ReferenceModel::expire() {
    std::erase_if(keys_, [this](auto const& entry) {
        auto const& expiry = entry.second.expiry;
        return expiry.kind == Expiry::Kind::at && expiry.value <= now_;
    });
}

std::string ReferenceModel::outcome_of(Lease lease, bool reclaims) {
    switch (lease) {
        case Lease::renewed:
            return renewed;
        case Lease::persistent:
            return reclaims ? reclaimed : released;
        case Lease::ending:
        case Lease::missing:
            return registered_again;
        case Lease::wrong_type:
            break;
    }
    return failed;
}

ReferenceModel::Told ReferenceModel::renew(std::size_t process, ServiceInstance const& instance) {
    if (!instance.ephemeral) return false;
    auto& self = processes_.at(process);
    auto const& id = instance.instance_id;
    auto const lease = renew_hash(instance, self.lease, tolerance_of(self.lease, usual_period));
    if (lease == Lease::renewed) return true;
    if (lease == Lease::wrong_type) return {};
    if (lease == Lease::persistent && !self.reclaim_persistent) {
        self.own.erase(id);
        return false;
    }
    auto const known = self.own.find(id);
    auto const current = known == self.own.end() ? instance : known->second;
    return register_instance(process, current);
}

std::vector<std::pair<std::string, std::string>> ReferenceModel::renew_registered(
    std::size_t process, long long period) {
    auto& self = processes_.at(process);
    auto const own = self.own;
    std::vector<std::pair<std::string, std::string>> results;
    std::vector<std::size_t> lost;
    for (auto const& [id, instance] : own) {
        auto const lease = renew_hash(instance, self.lease, tolerance_of(self.lease, period));
        results.emplace_back(id, outcome_of(lease, self.reclaim_persistent));
        auto const& outcome = results.back().second;
        if (outcome == released) self.own.erase(id);
        if (outcome == registered_again || outcome == reclaimed) lost.push_back(results.size() - 1);
    }
    for (auto const index : lost) {
        auto& [id, result] = results[index];
        if (!register_instance(process, own.at(id))) result = failed;
    }
    return results;
}

bool ReferenceModel::belongs_to(std::string const& service, std::string const& id) const {
    auto const stored = keys_.find(hash_key(id));
    if (stored == keys_.end()) return false;
    auto const of = stored->second.fields.find("serviceId");
    return of != stored->second.fields.end() && of->second == service && is_listed(service, id);
}

ReferenceModel::Told ReferenceModel::set_metadata(std::size_t process, std::string const& service,
                                                  std::string const& id, Metadata const& metadata,
                                                  bool merge) {
    auto* const stored = hash(id);
    if (stored && stored->type == Type::other) return {};
    if (!belongs_to(service, id)) return false;
    if (!merge) clear_metadata(*stored);
    write_metadata(*stored, metadata);
    announce(hash_key(id), "set_metadata");
    auto& own = processes_.at(process).own;
    if (auto const known = own.find(id); known != own.end()) {
        auto& described = known->second.metadata;
        if (!merge) described.clear();
        for (auto const& [key, value] : metadata) described[key] = value;
    }
    return true;
}

bool ReferenceModel::set_service(std::string const& service) {
    if (!add_member(services_key(), service)) return false;
    announce(services_key(), "set");
    keys_[stats_key()].fields[service] = "0";
    return true;
}

bool ReferenceModel::remove_service(std::string const& service) {
    clean_up(service);
    if (!members(list_key(service)).empty()) return false;
    if (auto const stats = keys_.find(stats_key()); stats != keys_.end()) {
        stats->second.fields.erase(service);
        if (stats->second.fields.empty()) keys_.erase(stats);
    }
    if (!remove_member(services_key(), service)) return false;
    announce(services_key(), "remove");
    return true;
}

ReferenceModel::Ids ReferenceModel::clean_up(std::string const& service) {
    Ids removed;
    for (auto const& id : members(list_key(service))) {
        if (hash(id)) continue;
        remove_member(list_key(service), id);
        announce(hash_key(id), "expired");
        removed.push_back(id);
    }
    return removed;
}

std::optional<FoundInstance> ReferenceModel::found(std::string const& id) const {
    auto const stored = keys_.find(hash_key(id));
    if (stored == keys_.end() || stored->second.type == Type::other) return {};
    auto const& fields = stored->second.fields;
    for (auto const* field :
         {"instanceId", "serviceId", "schema", "host", "port", "weight", "ephemeral"}) {
        if (!fields.contains(field)) return {};
    }
    auto const port = java_int(fields.at("port"));
    auto const weight = java_int(fields.at("weight"));
    if (!port || !weight) return {};
    FoundInstance made;
    made.instance.instance_id = fields.at("instanceId");
    made.instance.service_name = fields.at("serviceId");
    made.instance.scheme = fields.at("schema");
    made.instance.host = without_brackets(fields.at("host"));
    made.instance.port = *port;
    made.instance.weight = *weight;
    made.instance.ephemeral = is_true(fields.at("ephemeral"));
    for (auto const& [field, value] : fields) {
        if (is_metadata(field)) made.instance.metadata[field.substr(1)] = value;
    }
    if (stored->second.expiry.kind == Expiry::Kind::at) {
        made.ttl_at = golden::lease_mark(stored->second.expiry.value);
    } else if (fields.contains("ttl_at") && is_digits(fields.at("ttl_at"))) {
        made.ttl_at = fields.at("ttl_at");
    } else {
        made.ttl_at = made.instance.ephemeral ? "0" : "-1";
    }
    return made;
}

std::vector<FoundInstance> ReferenceModel::instances(std::string const& service) {
    clean_up(service);
    std::vector<FoundInstance> all;
    for (auto const& id : members(list_key(service))) {
        if (auto one = found(id)) all.push_back(*std::move(one));
    }
    return all;
}

std::optional<FoundInstance> ReferenceModel::instance(std::string const& service,
                                                      std::string const& id) {
    if (!is_listed(service, id)) return {};
    if (hash(id)) return found(id);
    remove_member(list_key(service), id);
    announce(hash_key(id), "expired");
    return {};
}

std::map<std::string, ReferenceModel::Ids> ReferenceModel::sweep() {
    std::map<std::string, Ids> removed;
    for (auto const& service : members(services_key())) {
        auto ids = clean_up(service);
        if (!ids.empty()) removed[service] = std::move(ids);
    }
    return removed;
}

void ReferenceModel::count(std::string const& service) {
    clean_up(service);
    auto const living = members(list_key(service)).size();
    keys_[stats_key()].fields[service] = std::to_string(living);
}

void ReferenceModel::stat_all() {
    for (auto const& service : members(services_key())) count(service);
}

void ReferenceModel::stat(std::string const& service) {
    if (members(services_key()).contains(service)) count(service);
}

long long ReferenceModel::instance_count() {
    long long total = 0;
    for (auto const& service : members(services_key())) {
        clean_up(service);
        total += static_cast<long long>(members(list_key(service)).size());
    }
    return total;
}

std::map<std::string, std::string> ReferenceModel::service_stats() const {
    auto const stored = keys_.find(stats_key());
    if (stored == keys_.end()) return {};
    auto stats = stored->second.fields;
    std::erase_if(stats, [](auto const& entry) { return !java_int(entry.second); });
    return stats;
}

void ReferenceModel::remove_hash(std::string const& id) { keys_.erase(hash_key(id)); }

void ReferenceModel::set_ttl(std::string const& id, long long seconds) {
    if (auto* const stored = hash(id)) {
        stored->expiry = seconds == 0 ? Expiry{} : Expiry::set_in_step(seconds);
    }
}

void ReferenceModel::set_field(std::string const& id, std::string const& field,
                               std::string const& value) {
    auto* const stored = hash(id);
    if (stored && stored->type == Type::hash) stored->fields[field] = value;
}

void ReferenceModel::remove_field(std::string const& id, std::string const& field) {
    auto* const stored = hash(id);
    if (!stored || stored->type != Type::hash) return;
    stored->fields.erase(field);
    if (stored->fields.empty()) keys_.erase(hash_key(id));
}

void ReferenceModel::make_headless(std::string const& id) {
    auto& stored = keys_[hash_key(id)];
    stored = {};
    stored.fields[renewal] = "1760000000";
}

void ReferenceModel::make_text(std::string const& id) {
    auto& stored = keys_[hash_key(id)];
    stored = {};
    stored.type = Type::other;
}

void ReferenceModel::list(std::string const& service, std::string const& id) {
    add_member(list_key(service), id);
}

void ReferenceModel::unlist(std::string const& service, std::string const& id) {
    remove_member(list_key(service), id);
}

void ReferenceModel::add_service(std::string const& service) {
    add_member(services_key(), service);
}

void ReferenceModel::forget_service(std::string const& service) {
    remove_member(services_key(), service);
}

void ReferenceModel::set_stat(std::string const& service, std::string const& value) {
    keys_[stats_key()].fields[service] = value;
}

}  // namespace rollcall::cosky::test

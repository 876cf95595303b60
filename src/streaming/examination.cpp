#include "streaming/examination.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/fault.hpp"
#include "registry/rights.hpp"
#include "streaming/service_keys.hpp"
#include "streaming/survey.hpp"

namespace rollcall::streaming {
namespace {

using Severity = Finding::Severity;

struct Faults {
    Fault wrong_type{"wrong type", "keys of another type than the layout's", "", Severity::problem};
    Fault undecodable{"undecodable",
                      "Hashes with a host that make no instance, so that readers skip them", "",
                      Severity::problem};
    Fault phantom{"phantom", "Hashes that describe no instance", "removes them"};
    Fault expired{"expired", "members silent for longer than the lease, with no Hash left",
                  "removes and announces them"};
    Fault bare{"no hash", "members within the lease that have no Hash", ""};
    Fault orphan{"orphan", "Hashes that no sorted set names, so that readers do not find them", ""};
    Fault no_ttl{"no TTL", "ephemeral instances that would never expire by themselves", ""};
    Fault other_lease{"lease", "instances written with another lease than this one", ""};
    Fault stale{"stale index", "services in the index that have no members", "removes them"};
    Fault unlisted{"index", "services with members that are not in the index", "lists them"};

    std::vector<Fault const*> all() const {
        return {&wrong_type, &undecodable, &phantom,     &expired, &bare,
                &orphan,     &no_ttl,      &other_lease, &stale,   &unlisted};
    }
};

/// `where` names the entry for people, `key` its Hash.
void sort_entry(std::string const& where, std::string const& key, Survey::Entry const& entry,
                Milliseconds now, Milliseconds lease, Faults& faults) {
    auto const age = entry.heartbeat ? static_cast<double>(now.count()) - *entry.heartbeat : 0.0;
    switch (entry.hash) {
        case Survey::HashKind::missing:
            if (entry.heartbeat) {
                bool const late = age > static_cast<double>(lease.count());
                (late ? faults.expired : faults.bare).where.push_back(where);
            }
            return;
        case Survey::HashKind::wrong_type:
            faults.wrong_type.where.push_back(key);
            return;
        case Survey::HashKind::phantom:
            faults.phantom.where.push_back(where);
            return;
        case Survey::HashKind::undecodable:
            faults.undecodable.where.push_back(where);
            break;
        case Survey::HashKind::instance:
            break;
    }
    if (!entry.heartbeat) faults.orphan.where.push_back(where);
    if (!entry.ephemeral) return;
    if (entry.ttl < 0) {
        faults.no_ttl.where.push_back(where);
    } else if (entry.heartbeat) {
        // Score and TTL were set together: what has passed since and what is left make the lease.
        // Peers take the score from their own clocks.
        auto const written = static_cast<double>(entry.ttl) + std::max(age, 0.0);
        auto const tolerance = std::max(2'000.0, static_cast<double>(lease.count()) / 10);
        if (std::abs(written - static_cast<double>(lease.count())) > tolerance) {
            faults.other_lease.where.push_back(
                where + " (" + std::to_string(std::llround(written / 1'000)) + " s)");
        }
    }
}

Faults sort(Survey const& survey, RegistryKeys const& keys, Milliseconds lease) {
    Faults faults;
    if (survey.index_wrong_type) faults.wrong_type.where.push_back(keys.services_index());
    for (auto const& [name, service] : survey.services) {
        ServiceKeys const names{keys.prefix(), name};
        bool has_members = false;
        for (auto const& [id, entry] : service.entries) {
            has_members = has_members || entry.heartbeat.has_value();
            sort_entry(name + "/" + id, names.instance(id), entry, survey.now, lease, faults);
        }
        if (service.wrong_type) {
            faults.wrong_type.where.push_back(names.heartbeats());
        } else if (service.indexed && !has_members) {
            faults.stale.where.push_back(name);
        } else if (!service.indexed && has_members && !survey.index_wrong_type) {
            faults.unlisted.where.push_back(name);
        }
    }
    return faults;
}

Task<Result<void>> list_services(RegistryLuaScriptExecutor const& scripts,
                                 std::vector<std::string> const& names, Deadline deadline) {
    if (names.empty()) co_return Result<void>{};
    auto const index = scripts.keys().services_index();
    redis::Request request;
    redis::Response response;
    for (auto const& name : names) {
        std::array<std::string_view, 2> const arguments{index, name};
        request.push("SADD", arguments);
    }
    auto const outcome = co_await scripts.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "list services");
    co_return Result<void>{};
}

/// Each step is safe beside all other programs: a service that loses its last member in between is
/// taken off the list again by the sweep, and a phantom is removed only while it is one.
Task<Result<void>> repair(RegistryLuaScriptExecutor const& scripts, ExpirySweep& sweep,
                          Survey const& survey, Faults const& faults, Deadline deadline) {
    auto const listed = co_await list_services(scripts, faults.unlisted.where, deadline);
    if (listed.has_error()) co_return listed.error();
    for (auto const& [name, service] : survey.services) {
        for (auto const& [id, entry] : service.entries) {
            if (entry.hash != Survey::HashKind::phantom) continue;
            auto const removed = co_await scripts.execute_remove_phantom(name, id, deadline);
            if (removed.has_error()) co_return removed.error();
        }
    }
    auto const swept = co_await sweep.run(scripts.lease(), deadline);
    if (swept.has_error()) co_return swept.error();
    for (auto const& service : swept->services) {
        if (service.failure) co_return *service.failure;
    }
    co_return Result<void>{};
}

/// Those of a provider. What the scripts do not use, in any service, is not asked for.
NeededRights needed_rights(RegistryKeys const& keys) {
    ServiceKeys const names{keys.prefix(), "any"};
    auto const index = keys.services_index();
    auto const heartbeats = names.heartbeats();
    auto const hash = names.instance("any");
    NeededRights needed;
    needed.sweep = keys.prefix() + ":rollcall:sweep";
    needed.channels.push_back({names.changes(), ServiceKeys{keys.prefix(), "*"}.changes()});
    for (auto const* name : {"EVAL", "EVALSHA"}) needed.commands.push_back({{name, "", "0"}, {}});
    needed.add_usual();
    needed.add("SMEMBERS", index);
    for (auto const* name : {"SISMEMBER", "SADD", "SREM"}) needed.add(name, index, {""});
    needed.add("ZRANGEBYSCORE", heartbeats, {"0", "0"});
    needed.add("ZCARD", heartbeats);
    needed.add("ZADD", heartbeats, {"0", ""});
    for (auto const* name : {"ZSCORE", "ZREM"}) needed.add(name, heartbeats, {""});
    for (auto const* name : {"HGETALL", "EXISTS", "PERSIST", "DEL"}) needed.add(name, hash);
    for (auto const* name : {"HGET", "HMGET", "HDEL"}) needed.add(name, hash, {""});
    needed.add("HSET", hash, {"", ""});
    needed.add("EXPIRE", hash, {"1"});
    return needed;
}

Finding note(Severity severity, std::string text) {
    return make_finding(severity, "entries", std::move(text));
}

}  // namespace

Task<Result<std::vector<Finding>>> examine(RegistryLuaScriptExecutor const& scripts,
                                           InstanceReader& reader, ExpirySweep& sweep, bool fix,
                                           Deadline deadline) {
    auto const seen = co_await survey(scripts, reader, deadline);
    if (seen.has_error()) co_return seen.error();
    auto const faults = sort(*seen, scripts.keys(), scripts.lease());

    auto const needed = needed_rights(scripts.keys());
    auto rights = co_await examine_rights(scripts.core().session(), needed, deadline);
    if (rights.has_error()) co_return rights.error();
    auto findings = *std::move(rights);
    for (auto const* fault : faults.all()) {
        if (auto finding = fault->finding()) findings.push_back(*std::move(finding));
    }
    if (findings.empty()) {
        std::size_t entries = 0;
        for (auto const& [name, service] : seen->services) entries += service.entries.size();
        findings.push_back(note(Severity::ok, "services (" + std::to_string(seen->services.size()) +
                                                  ") and instances (" + std::to_string(entries) +
                                                  ") are consistent"));
    }
    if (!seen->complete) {
        findings.push_back(note(Severity::note, "time ran out before all keys were searched"));
    }
    if (!seen->not_scanned.empty()) {
        findings.push_back(
            note(Severity::note, "keys could not be searched for orphans: " + seen->not_scanned));
    }
    if (!fix) co_return findings;

    auto const repaired = co_await repair(scripts, sweep, *seen, faults, deadline);
    for (auto& finding : findings) {
        finding.repaired = repaired.has_value() && !finding.repair.empty();
    }
    if (repaired.has_error()) {
        findings.push_back(
            note(Severity::problem, "not all was repaired: " + repaired.error().detail()));
    }
    co_return findings;
}

}  // namespace rollcall::streaming

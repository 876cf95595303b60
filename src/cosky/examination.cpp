#include "cosky/examination.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "registry/exchange.hpp"
#include "registry/fault.hpp"
#include "registry/key_scan.hpp"
#include "registry/replies.hpp"
#include "registry/rights.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/redis_keys.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {
namespace {

using redis::Request;
using redis::Value;
using Milliseconds = std::chrono::milliseconds;
using Severity = Finding::Severity;

// As the other layout's: whole seconds, and clocks that are read one after another.
constexpr std::chrono::seconds least_tolerance{2};

// What is beyond the year 9999 is no time that a renewal announced.
constexpr std::chrono::seconds::rep latest_told = 253'402'300'800;

/// Everything that is stored in a namespace.
struct Survey {
    KeyScan scan = {};
    std::set<std::string> indexed = {};                       ///< Services of the index.
    std::set<std::string> counted = {};                       ///< Services with a stored count.
    std::map<std::string, std::set<std::string>> lists = {};  ///< Ids by service.
    std::set<std::string> ids = {};                           ///< Of keys and of lists.
};

struct Faults {
    Fault wrong_type{"wrong type", "keys of another type than the layout's", "", Severity::problem};
    Fault undecodable{"undecodable", "Hashes that make no instance, so that our readers skip them",
                      "", Severity::problem};
    Fault expired{"expired", "listed instances that have expired",
                  "takes them off the lists and announces them"};
    Fault orphan{"orphan", "instances on no list, so that readers do not find them", ""};
    Fault other_id{"mismatch",
                   "Hashes that describe another instance than their key names, so that our "
                   "readers skip them",
                   "", Severity::problem};
    Fault other_service{"mismatch", "instances listed under a service that is not theirs", ""};
    Fault other_lease{"lease", "instances written with a longer lease than this one", ""};
    Fault no_ttl{"no TTL", "ephemeral instances that would never expire by themselves", ""};
    Fault unlisted{"index", "services with instances that are not listed", "lists them"};
    Fault stale_count{"count", "stored counts of services that are not there", "removes them"};

    std::vector<Fault const*> all() const {
        return {&wrong_type, &undecodable, &other_id,    &other_service, &expired,
                &orphan,     &no_ttl,      &other_lease, &unlisted,      &stale_count};
    }
};

/// Members or fields of the keys; those of another type are a fault.
Task<Result<std::vector<std::set<std::string>>>> read_names(redis::Session& session,
                                                            std::string_view command,
                                                            std::vector<std::string> const& keys,
                                                            Faults& faults, Deadline deadline) {
    std::vector<std::set<std::string>> names(keys.size());
    Reads reads;
    reads.items = keys.size();
    reads.bytes = 1'024;
    reads.push = [&](Request& request, std::size_t i) {
        std::array<std::string_view, 1> const arguments{keys[i]};
        request.push(command, arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (reply.is_error() && !redis::is_wrong_type(reply)) {
                return redis::failure_of(reply, "read " + keys[i]);
            }
            if (reply.is_error()) faults.wrong_type.where.push_back(keys[i]);
            for (auto const name : reply) names[i].emplace(name.text());
        }
        return std::nullopt;
    };
    auto const read = co_await exec_reads(session, reads, deadline);
    if (read.has_error()) co_return read.error();
    co_return names;
}

Task<Result<Survey>> survey(redis::Session& session, std::string const& ns, Faults& faults,
                            Deadline deadline) {
    Survey result;
    auto const of_lists = DiscoveryKeyGenerator::instance_idx_key(ns, "");
    auto const on_key = [&](std::string_view key) {
        if (auto id = DiscoveryKeyGenerator::instance_id_of_key(ns, key)) {
            result.ids.insert(*std::move(id));
        } else if (key.starts_with(of_lists)) {
            result.lists[std::string{key.substr(of_lists.size())}];
        }
    };
    auto const pattern = escaped_for_match(ns) + ":svc_itc*";
    auto scan = co_await scan_keys(session, pattern, on_key, deadline);
    if (scan.has_error()) co_return scan.error();
    result.scan = *std::move(scan);

    std::vector<std::string> const index{DiscoveryKeyGenerator::service_idx_key(ns)};
    auto indexed = co_await read_names(session, "SMEMBERS", index, faults, deadline);
    if (indexed.has_error()) co_return indexed.error();
    result.indexed = std::move(indexed->front());
    std::vector<std::string> const counts{DiscoveryKeyGenerator::service_stat_key(ns)};
    auto counted = co_await read_names(session, "HKEYS", counts, faults, deadline);
    if (counted.has_error()) co_return counted.error();
    result.counted = std::move(counted->front());

    for (auto const& service : result.indexed) result.lists[service];
    std::vector<std::string> keys;
    for (auto const& [service, ids] : result.lists) {
        keys.push_back(DiscoveryKeyGenerator::instance_idx_key(ns, service));
    }
    auto lists = co_await read_names(session, "SMEMBERS", keys, faults, deadline);
    if (lists.has_error()) co_return lists.error();
    std::size_t i = 0;
    for (auto& [service, ids] : result.lists) {
        ids = std::move((*lists)[i++]);
        result.ids.insert(ids.begin(), ids.end());
    }
    co_return result;
}

/// What Redis has under the key of an instance, and when.
struct Stored {
    std::string const& id;
    std::string key;
    Value hash;
    Milliseconds ttl;  ///< Below zero: none.
    std::chrono::seconds now;
};

/// What is left of the lease, or readers were told is left: the longer of both.
Milliseconds known_lease(Stored const& stored,
                         std::vector<ServiceInstanceCodec::Field> const& hash) {
    auto longest = stored.ttl;
    for (auto const& [name, value] : hash) {
        std::chrono::seconds::rep until = 0;
        if (name != "__last_renew_pub_ttl_at") continue;
        auto const read = std::from_chars(value.data(), value.data() + value.size(), until);
        if (read.ptr != value.data() + value.size()) continue;
        if (until > latest_told || until <= stored.now.count()) continue;
        longest = std::max<Milliseconds>(longest, std::chrono::seconds{until} - stored.now);
    }
    return longest;
}

void judge_lease(Stored const& stored, std::vector<ServiceInstanceCodec::Field> const& hash,
                 Milliseconds lease, Faults& faults) {
    if (stored.ttl < Milliseconds{}) return faults.no_ttl.where.push_back(stored.key);
    // Nothing tells of a shorter one: what is left says only how much it was at least.
    auto const known = known_lease(stored, hash);
    if (known <= lease + std::max<Milliseconds>(least_tolerance, lease / 10)) return;
    faults.other_lease.where.push_back(
        stored.id + " (" + std::to_string(std::chrono::round<std::chrono::seconds>(known).count()) +
        " s)");
}

/// What is wrong with the Hash of an instance that the lists of `services` name; false: it has
/// none.
bool judge_hash(Stored const& stored, std::vector<std::string_view> const& services,
                Milliseconds lease, Faults& faults) {
    if (stored.hash.is_error()) {
        faults.wrong_type.where.push_back(stored.key);
        return true;
    }
    std::vector<HashField> fields;
    read_fields(stored.hash, fields);
    if (fields.empty()) return false;
    auto const found = ServiceInstanceCodec::decode(fields);
    if (!found) {
        faults.undecodable.where.push_back(stored.key);
        return true;
    }
    auto const& instance = found->instance;
    if (instance.instance_id != stored.id) faults.other_id.where.push_back(stored.key);
    for (auto const service : services) {
        if (service == instance.service_name) continue;
        faults.other_service.where.push_back(stored.id + " of " + instance.service_name + " in " +
                                             std::string{service});
    }
    if (instance.ephemeral) judge_lease(stored, fields, lease, faults);
    return true;
}

Task<Result<void>> judge_instances(redis::Session& session, std::string const& ns,
                                   Milliseconds lease, Survey const& seen, Faults& faults,
                                   Deadline deadline) {
    std::map<std::string_view, std::vector<std::string_view>> services;
    for (auto const& [service, ids] : seen.lists) {
        for (auto const& id : ids) services[id].push_back(service);
    }
    std::vector<std::string> const ids{seen.ids.begin(), seen.ids.end()};
    Reads reads;
    reads.items = ids.size();
    reads.nodes = 30;
    reads.bytes = 384;
    reads.push = [&](Request& request, std::size_t i) {
        if (request.empty()) request.push("TIME");
        auto const key = DiscoveryKeyGenerator::instance_key(ns, ids[i]);
        std::array<std::string_view, 1> const arguments{key};
        request.push("HGETALL", arguments);
        request.push("PTTL", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        if (response[0].is_error()) return redis::failure_of(response[0], "read Redis' clock");
        std::chrono::seconds const now{response[0][0].integer()};
        for (auto i = first; i < last; ++i) {
            Stored const stored{ids[i], DiscoveryKeyGenerator::instance_key(ns, ids[i]),
                                response[1 + 2 * (i - first)],
                                Milliseconds{response[2 + 2 * (i - first)].integer(-1)}, now};
            if (stored.hash.is_error() && !redis::is_wrong_type(stored.hash)) {
                return redis::failure_of(stored.hash, "read " + stored.key);
            }
            auto const& naming = services[ids[i]];
            bool const there = judge_hash(stored, naming, lease, faults);
            if (!there && !naming.empty()) faults.expired.where.push_back(ids[i]);
            if (there && naming.empty()) faults.orphan.where.push_back(ids[i]);
        }
        return std::nullopt;
    };
    co_return co_await exec_reads(session, reads, deadline);
}

/// Who uses whom is for people: only what keeps them from seeing it is looked for.
Task<Result<void>> judge_topology(redis::Session& session, std::string const& ns, Faults& faults,
                                  Deadline deadline) {
    std::vector<std::string> const index{DiscoveryKeyGenerator::topology_idx_key(ns)};
    auto const consumers = co_await read_names(session, "HKEYS", index, faults, deadline);
    if (consumers.has_error()) co_return consumers.error();
    std::vector<std::string> keys;
    for (auto const& consumer : consumers->front()) {
        keys.push_back(DiscoveryKeyGenerator::topology_key(ns, consumer));
    }
    auto const edges = co_await read_names(session, "HKEYS", keys, faults, deadline);
    if (edges.has_error()) co_return edges.error();
    co_return Result<void>{};
}

Task<Result<void>> repair(DiscoveryRedisScripts const& scripts, ExpirySweep& sweep,
                          std::string const& ns, Faults const& faults, Deadline deadline) {
    for (auto const& service : faults.unlisted.where) {
        auto const done = co_await scripts.registry_set_service(ns, service, deadline);
        if (done.has_error()) co_return done.error();
    }
    // Removes the count and, of a service that is not there, nothing else.
    for (auto const& service : faults.stale_count.where) {
        auto const done = co_await scripts.registry_remove_service(ns, service, deadline);
        if (done.has_error()) co_return done.error();
    }
    auto const swept = co_await sweep.run(deadline);
    if (swept.has_error()) co_return swept.error();
    for (auto const& service : swept->services) {
        if (service.failure) co_return *service.failure;
    }
    co_return Result<void>{};
}

void judge_services(Survey const& seen, Faults& faults) {
    for (auto const& [service, ids] : seen.lists) {
        if (!ids.empty() && !seen.indexed.contains(service)) {
            faults.unlisted.where.push_back(service);
        }
    }
    for (auto const& service : seen.counted) {
        auto const at = seen.lists.find(service);
        bool const has_instances = at != seen.lists.end() && !at->second.empty();
        if (!has_instances && !seen.indexed.contains(service)) {
            faults.stale_count.where.push_back(service);
        }
    }
}

/// Those of a provider. Scripts have the namespace as their key, and take the others from it.
NeededRights needed_rights(std::string const& ns) {
    std::string const id = "any@http#any#80";
    auto const index = DiscoveryKeyGenerator::service_idx_key(ns);
    auto const list = DiscoveryKeyGenerator::instance_idx_key(ns, "any");
    auto const counts = DiscoveryKeyGenerator::service_stat_key(ns);
    auto const hash = DiscoveryKeyGenerator::instance_key(ns, id);
    NeededRights needed;
    needed.sweep = ns + ":rollcall:sweep";
    needed.channels.push_back({index, index});
    needed.channels.push_back({hash, DiscoveryKeyGenerator::instance_key(ns, "*")});
    for (auto const* name : {"EVAL", "EVALSHA"}) {
        needed.commands.push_back({{name, "", "1", ns}, ns});
    }
    needed.add_usual();
    for (auto const& key : {index, list}) {
        needed.add("SMEMBERS", key);
        for (auto const* name : {"SISMEMBER", "SADD", "SREM"}) needed.add(name, key, {""});
    }
    for (auto const& key : {counts, hash}) {
        needed.add("HKEYS", key);
        needed.add("HSET", key, {"", ""});
        needed.add("HDEL", key, {""});
    }
    for (auto const* name : {"HGETALL", "EXISTS", "TTL", "PTTL", "PERSIST", "DEL"}) {
        needed.add(name, hash);
    }
    for (auto const* name : {"HGET", "HMGET"}) needed.add(name, hash, {""});
    needed.add("EXPIRE", hash, {"1"});
    return needed;
}

/// A namespace like `ns` that Redis Cluster takes. What stands in braces must not be empty, so that
/// a brace that closes first is in the way.
std::string with_hash_tag(std::string ns) {
    if (auto wrapped = RedisKeys::wrap(ns); RedisKeys::has_hash_tag(wrapped)) return wrapped;
    std::erase_if(ns, [](char c) { return c == '{' || c == '}'; });
    return RedisKeys::wrap(ns.empty() ? "default" : ns);
}

std::vector<Finding> findings_of(std::string const& ns, Survey const& seen, Faults const& faults,
                                 std::vector<Finding> findings) {
    for (auto const* fault : faults.all()) {
        if (auto finding = fault->finding()) findings.push_back(*std::move(finding));
    }
    if (findings.empty()) {
        findings.push_back(make_finding(Severity::ok, "entries",
                                        "services (" + std::to_string(seen.lists.size()) +
                                            ") and instances (" + std::to_string(seen.ids.size()) +
                                            ") are consistent"));
    }
    if (!RedisKeys::has_hash_tag(ns)) {
        findings.push_back(make_finding(Severity::note, "hash tag",
                                        "the namespace has no hash tag such as " +
                                            with_hash_tag(ns) +
                                            ": Redis Cluster would not take its scripts"));
    }
    if (!seen.scan.complete) {
        findings.push_back(
            make_finding(Severity::note, "entries", "time ran out before all keys were searched"));
    }
    if (!seen.scan.refused.empty()) {
        findings.push_back(
            make_finding(Severity::note, "entries",
                         "keys could not be searched for orphans: " + seen.scan.refused));
    }
    return findings;
}

}  // namespace

Task<Result<std::vector<Finding>>> examine(DiscoveryRedisScripts const& scripts, ExpirySweep& sweep,
                                           std::string const& ns, std::chrono::seconds lease,
                                           bool fix, Deadline deadline) {
    auto& session = scripts.core().session();
    Faults faults;
    auto const seen = co_await survey(session, ns, faults, deadline);
    if (seen.has_error()) co_return seen.error();
    auto const judged = co_await judge_instances(session, ns, lease, *seen, faults, deadline);
    if (judged.has_error()) co_return judged.error();
    judge_services(*seen, faults);
    auto const used = co_await judge_topology(session, ns, faults, deadline);
    if (used.has_error()) co_return used.error();
    auto const needed = needed_rights(ns);
    auto rights = co_await examine_rights(session, needed, deadline);
    if (rights.has_error()) co_return rights.error();
    auto findings = findings_of(ns, *seen, faults, *std::move(rights));
    if (!fix) co_return findings;

    auto const repaired = co_await repair(scripts, sweep, ns, faults, deadline);
    for (auto& finding : findings) {
        finding.repaired = repaired.has_value() && !finding.repair.empty();
    }
    if (repaired.has_error()) {
        findings.push_back(make_finding(Severity::problem, "entries",
                                        "not all was repaired: " + repaired.error().detail()));
    }
    co_return findings;
}

}  // namespace rollcall::cosky

#include "cosky/examination.hpp"

#include <array>
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

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/redis_keys.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {
namespace {

using redis::Request;
using redis::Value;
using Severity = Finding::Severity;

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
    Fault no_ttl{"no TTL", "ephemeral instances that would never expire by themselves", ""};
    Fault unlisted{"index", "services with instances that are not listed", "lists them"};
    Fault stale_count{"count", "stored counts of services that are not there", "removes them"};

    std::vector<Fault const*> all() const {
        return {&wrong_type, &undecodable, &expired, &orphan, &no_ttl, &unlisted, &stale_count};
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

/// What is wrong with the Hash of an instance; false: it has none.
bool judge_hash(std::string const& key, Value hash, std::int64_t ttl, Faults& faults) {
    if (hash.is_error()) {
        faults.wrong_type.where.push_back(key);
        return true;
    }
    std::vector<ServiceInstanceCodec::Field> fields;
    for (auto at = hash.begin(); at != hash.end(); ++at) {
        auto const name = (*at).text();
        if (++at == hash.end()) break;
        fields.emplace_back(name, (*at).text());
    }
    if (fields.empty()) return false;
    auto const found = ServiceInstanceCodec::decode(fields);
    if (!found) {
        faults.undecodable.where.push_back(key);
    } else if (found->instance.ephemeral && ttl < 0) {
        faults.no_ttl.where.push_back(key);
    }
    return true;
}

Task<Result<void>> judge_instances(redis::Session& session, std::string const& ns,
                                   Survey const& seen, Faults& faults, Deadline deadline) {
    std::set<std::string_view> listed;
    for (auto const& [service, ids] : seen.lists) listed.insert(ids.begin(), ids.end());
    std::vector<std::string> const ids{seen.ids.begin(), seen.ids.end()};
    Reads reads;
    reads.items = ids.size();
    reads.nodes = 30;
    reads.bytes = 384;
    reads.push = [&](Request& request, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::instance_key(ns, ids[i]);
        std::array<std::string_view, 1> const arguments{key};
        request.push("HGETALL", arguments);
        request.push("PTTL", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const hash = response[2 * (i - first)];
            auto const key = DiscoveryKeyGenerator::instance_key(ns, ids[i]);
            if (hash.is_error() && !redis::is_wrong_type(hash)) {
                return redis::failure_of(hash, "read " + key);
            }
            auto const ttl = response[2 * (i - first) + 1].integer(-1);
            bool const there = judge_hash(key, hash, ttl, faults);
            bool const on_a_list = listed.contains(ids[i]);
            if (!there && on_a_list) faults.expired.where.push_back(ids[i]);
            if (there && !on_a_list) faults.orphan.where.push_back(ids[i]);
        }
        return std::nullopt;
    };
    co_return co_await exec_reads(session, reads, deadline);
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

std::vector<Finding> findings_of(std::string const& ns, Survey const& seen, Faults const& faults) {
    std::vector<Finding> findings;
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
                                            RedisKeys::wrap(ns) +
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
                                           std::string const& ns, bool fix, Deadline deadline) {
    auto& session = scripts.core().session();
    Faults faults;
    auto const seen = co_await survey(session, ns, faults, deadline);
    if (seen.has_error()) co_return seen.error();
    auto const judged = co_await judge_instances(session, ns, *seen, faults, deadline);
    if (judged.has_error()) co_return judged.error();
    judge_services(*seen, faults);
    auto findings = findings_of(ns, *seen, faults);
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

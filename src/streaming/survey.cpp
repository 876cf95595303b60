#include "streaming/survey.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "core/protocol_table.hpp"
#include "registry/exchange.hpp"
#include "registry/key_scan.hpp"
#include "registry/replies.hpp"
#include "streaming/service_keys.hpp"

namespace rollcall::streaming {
namespace {

using redis::Value;

constexpr std::size_t entries_per_request = 128;

bool is_wrong_type(Failure const& failure) {
    return failure.detail().find("WRONGTYPE") != std::string::npos;
}

/// Puts the services and instances that keys of the prefix speak of into the survey.
void note_key(RegistryKeys const& keys, std::string_view key, Survey& survey) {
    if (auto const service = keys.service_of_heartbeats_key(key)) {
        survey.services[*service];
        return;
    }
    auto const service = keys.service_of_instance_key(key);
    auto id = keys.instance_id_of_instance_key(key);
    if (service && id) survey.services[*service].entries[*std::move(id)];
}

/// Only a search through all keys finds Hashes that no sorted set names.
Task<Result<void>> scan(RegistryLuaScriptExecutor const& scripts, Survey& survey,
                        Deadline deadline) {
    auto const pattern = escaped_for_match(scripts.keys().prefix()) + ":services:*";
    auto const on_key = [&](std::string_view key) { note_key(scripts.keys(), key, survey); };
    auto const scan = co_await scan_keys(scripts.core().session(), pattern, on_key, deadline);
    if (scan.has_error()) co_return scan.error();
    survey.complete = scan->complete;
    survey.not_scanned = scan->refused;
    co_return Result<void>{};
}

void note_hash(Survey::Entry& entry, std::string const& service, std::string const& id,
               Value hash) {
    if (hash.is_error()) {
        entry.hash = Survey::HashKind::wrong_type;
        return;
    }
    std::vector<HashField> fields;
    read_fields(hash, fields);
    if (fields.empty()) return;
    bool described = false;
    for (auto const& [name, value] : fields) {
        if (name == "host") described = true;
        if (name == "ephemeral") entry.ephemeral = equal_ignoring_case(value, "true");
    }
    if (!described) {
        entry.hash = Survey::HashKind::phantom;
    } else if (InstanceEntryCodec::parse_instance(service, id, fields)) {
        entry.hash = Survey::HashKind::instance;
    } else {
        entry.hash = Survey::HashKind::undecodable;
    }
}

/// TTL and Hash of all entries of one service.
Task<Result<void>> look_at_hashes(RegistryLuaScriptExecutor const& scripts, std::string const& name,
                                  Survey::Service& service, Deadline deadline) {
    auto const count = service.entries.size();
    if (count == 0) co_return Result<void>{};
    ServiceKeys const keys{scripts.keys().prefix(), name};
    auto const exchanges =
        std::make_shared<Exchanges>((count + entries_per_request - 1) / entries_per_request);
    std::size_t i = 0;
    for (auto const& [id, entry] : service.entries) {
        auto const key = keys.instance(id);
        std::array<std::string_view, 1> const arguments{key};
        auto& request = (*exchanges)[i++ / entries_per_request].request;
        request.push("PTTL", arguments);
        request.push("HGETALL", arguments);
    }
    co_await exec_all(scripts.core().session(), exchanges, deadline);
    i = 0;
    for (auto& [id, entry] : service.entries) {
        auto const& exchange = (*exchanges)[i / entries_per_request];
        if (exchange.failure) co_return *exchange.failure;
        auto const at = 2 * (i++ % entries_per_request);
        auto const hash = exchange.response[at + 1];
        if (hash.is_error() && !hash.text().starts_with("WRONGTYPE")) {
            co_return redis::failure_of(hash, "read " + keys.instance(id));
        }
        entry.ttl = exchange.response[at].integer(-1);
        note_hash(entry, name, id, hash);
    }
    co_return Result<void>{};
}

Task<Result<void>> look_at_service(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader,
                                   std::string const& name, Survey& survey, Deadline deadline) {
    auto& service = survey.services[name];
    auto const members = co_await reader.members(name, std::nullopt, deadline);
    if (members.has_error()) {
        if (!is_wrong_type(members.error())) co_return members.error();
        service.wrong_type = true;
    } else {
        survey.now = members->now;
        for (auto const& member : members->list) {
            service.entries[member.id].heartbeat = member.heartbeat;
        }
    }
    co_return co_await look_at_hashes(scripts, name, service, deadline);
}

}  // namespace

Task<Result<Survey>> survey(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader,
                            Deadline deadline) {
    Survey result;
    auto const index = co_await reader.services(deadline);
    if (index.has_error()) {
        if (!is_wrong_type(index.error())) co_return index.error();
        result.index_wrong_type = true;
    } else {
        for (auto const& name : *index) result.services[name].indexed = true;
    }
    auto const scanned = co_await scan(scripts, result, deadline);
    if (scanned.has_error()) co_return scanned.error();

    std::vector<std::string> names;
    for (auto const& [name, service] : result.services) names.push_back(name);
    for (auto const& name : names) {
        auto const looked = co_await look_at_service(scripts, reader, name, result, deadline);
        if (looked.has_error()) co_return looked.error();
    }
    co_return result;
}

}  // namespace rollcall::streaming

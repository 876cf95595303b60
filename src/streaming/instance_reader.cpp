#include "streaming/instance_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "redis/request.hpp"
#include "registry/exchange.hpp"
#include "registry/replies.hpp"
#include "streaming/filter_document.hpp"
#include "streaming/service_keys.hpp"

namespace rollcall::streaming {
namespace {

using redis::Request;
using redis::Value;

// By how much the clocks of Redis and of this machine may drift apart between two reads before a
// read has to be made again.
constexpr Milliseconds clock_margin{2'000};

/// Members with scores, as pairs or, before RESP3, flat.
std::vector<Member> members_of(Value reply) {
    std::vector<Member> members;
    members.reserve(reply.size());
    for (auto at = reply.begin(); at != reply.end(); ++at) {
        auto const element = *at;
        if (element.is_aggregate()) {
            auto part = element.begin();
            auto const id = (*part++).text();
            members.push_back({std::string{id}, score_of((*part).text())});
        } else {
            if (++at == reply.end()) break;
            members.push_back({std::string{element.text()}, score_of((*at).text())});
        }
    }
    return members;
}

}  // namespace

Task<Result<Members>> InstanceReader::members_from(std::string const& service,
                                                   std::string const& lowest, Deadline deadline) {
    auto const key = ServiceKeys{scripts_.keys().prefix(), service}.heartbeats();
    Request request;
    redis::Response response;
    std::array<std::string_view, 4> const range{key, lowest, "+inf", "WITHSCORES"};
    request.push("TIME");
    request.push("ZRANGEBYSCORE", range);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "read Redis' clock");
    if (response[1].is_error()) {
        co_return redis::failure_of(response[1], "read the heartbeats " + key);
    }
    Members result;
    result.now = time_of(response[0]);
    result.list = members_of(response[1]);
    note_time(result.now);
    co_return result;
}

Task<Result<Members>> InstanceReader::members(std::string const& service,
                                              std::optional<Milliseconds> window,
                                              Deadline deadline) {
    // Expired members are not worth the transfer: where Redis' time can be told, they stay out of
    // the answer. Which of the others are within the window is decided by Redis' own time.
    std::optional<Milliseconds> lowest;
    auto const estimate = clock_.estimate(std::chrono::steady_clock::now());
    if (window && estimate) lowest = *estimate - *window - clock_margin;
    auto const bound = lowest ? std::to_string(lowest->count()) : "-inf";
    auto result = co_await members_from(service, bound, deadline);
    if (result.has_error()) co_return result;
    if (lowest && *lowest > result->now - *window) {
        // Redis' clock was set back, or it is another Redis now.
        std::string const all = "-inf";
        result = co_await members_from(service, all, deadline);
        if (result.has_error()) co_return result;
    }
    if (window) {
        auto const oldest = static_cast<double>((result->now - *window).count());
        std::erase_if(result->list,
                      [&](Member const& member) { return !(member.heartbeat > oldest); });
    }
    co_return result;
}

Task<Result<Members>> InstanceReader::ids(std::string const& service, Milliseconds window,
                                          Deadline deadline) {
    auto const estimate = clock_.estimate(std::chrono::steady_clock::now());
    if (!estimate) co_return co_await members(service, window, deadline);
    auto const key = ServiceKeys{scripts_.keys().prefix(), service}.heartbeats();
    auto const lowest = *estimate - window - clock_margin;
    auto const highest = *estimate - window + clock_margin;
    auto const from = std::to_string(lowest.count());
    auto const until = std::to_string(highest.count());
    auto const after_it = '(' + until;
    std::array<std::string_view, 4> const doubtful{key, from, until, "WITHSCORES"};
    std::array<std::string_view, 3> const certain{key, after_it, "+inf"};
    Request request;
    redis::Response response;
    request.push("TIME");
    request.push("ZRANGEBYSCORE", doubtful);
    request.push("ZRANGEBYSCORE", certain);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "read Redis' clock");
    for (std::size_t i = 1; i < response.size(); ++i) {
        if (response[i].is_error()) {
            co_return redis::failure_of(response[i], "read the heartbeats " + key);
        }
    }
    Members result;
    result.now = time_of(response[0]);
    note_time(result.now);
    auto const oldest = result.now - window;
    if (oldest < lowest || oldest > highest) co_return co_await members(service, window, deadline);

    // Between the two ranges one may have moved from the first to the second.
    std::unordered_set<std::string_view> moved;
    for (auto& member : members_of(response[1])) {
        bool const within = member.heartbeat > static_cast<double>(oldest.count());
        if (within) result.list.push_back(std::move(member));
    }
    if (!result.list.empty()) {
        for (auto const id : response[2]) moved.insert(id.text());
        std::erase_if(result.list, [&](Member const& member) { return moved.contains(member.id); });
    }
    result.list.reserve(result.list.size() + response[2].size());
    for (auto const id : response[2]) result.list.push_back({std::string{id.text()}});
    co_return result;
}

Task<Result<void>> InstanceReader::hashes(std::string const& service,
                                          std::span<Member const> members, OnHash const& on_hash,
                                          Deadline deadline) {
    ServiceKeys const keys{scripts_.keys().prefix(), service};
    std::vector<InstanceEntryCodec::Field> fields;
    Reads reads;
    reads.items = members.size();
    // What is usual, generously: 12 fields and their values, and their text.
    reads.nodes = 26;
    reads.bytes = 512;
    reads.push = [&](Request& request, std::size_t i) {
        auto const key = keys.instance(members[i].id);
        std::array<std::string_view, 1> const arguments{key};
        request.push("HGETALL", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (!reply.is_error()) {
                read_fields(reply, fields);
                if (!fields.empty()) on_hash(i, fields);
            } else if (is_wrong_type(reply)) {
                skip(service, members[i].id, "its key is no Hash");
            } else {
                return redis::failure_of(reply, "read " + keys.instance(members[i].id));
            }
        }
        return std::nullopt;
    };
    co_return co_await exec_reads(scripts_.core().session(), reads, deadline);
}

Task<Result<std::vector<Found>>> InstanceReader::list(std::string const& service, ListScope scope,
                                                      Filters const& metadata,
                                                      Filters const& metrics, Leases leases,
                                                      Deadline deadline) {
    std::optional<Milliseconds> window;
    if (scope == ListScope::discoverable) window = scripts_.lease();
    Result<Members> members = Members{};
    if (!metadata.empty() || !metrics.empty()) {
        auto const document = filter_document(metadata, metrics);
        members = co_await scripts_.execute_get_instances_by_filters(
            service, window.value_or(for_ever), document, deadline);
        if (members.has_value()) note_time(members->now);
    } else if (window && leases == Leases::left_out) {
        members = co_await ids(service, *window, deadline);
    } else {
        members = co_await this->members(service, window, deadline);
    }
    if (members.has_error()) co_return members.error();

    auto const seen = std::chrono::steady_clock::now();
    std::vector<Found> result;
    result.reserve(members->list.size());
    OnHash const on_hash = [&](std::size_t index, Fields fields) {
        auto const& [id, heartbeat] = members->list[index];
        auto found = this->found(service, id, fields);
        if (!found) return;
        if (leases == Leases::told) tell_lease(*found, heartbeat, members->now, seen);
        result.push_back(std::move(*found));
    };
    auto const read = co_await hashes(service, members->list, on_hash, deadline);
    if (read.has_error()) co_return read.error();
    co_return result;
}

Task<Result<InstanceReader::Stored>> InstanceReader::stored(std::string const& service,
                                                            std::string const& id,
                                                            Deadline deadline) {
    ServiceKeys const keys{scripts_.keys().prefix(), service};
    auto const heartbeats = keys.heartbeats();
    auto const instance = keys.instance(id);
    Request request;
    redis::Response response;
    std::array<std::string_view, 2> const score{heartbeats, id};
    std::array<std::string_view, 1> const hash{instance};
    request.push("TIME");
    request.push("ZSCORE", score);
    request.push("HGETALL", hash);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    for (std::size_t i = 0; i < response.size(); ++i) {
        if (response[i].is_error()) co_return redis::failure_of(response[i], "read " + instance);
    }
    Stored result;
    result.now = time_of(response[0]);
    note_time(result.now);
    result.heartbeat = score_of(response[1].text());
    std::vector<InstanceEntryCodec::Field> fields;
    read_fields(response[2], fields);
    result.fields.assign(fields.begin(), fields.end());
    co_return result;
}

Task<Result<std::optional<Found>>> InstanceReader::one(std::string const& service,
                                                       std::string const& id, Deadline deadline) {
    auto const read = co_await stored(service, id, deadline);
    if (read.has_error()) co_return read.error();
    std::vector<InstanceEntryCodec::Field> const fields{read->fields.begin(), read->fields.end()};
    if (fields.empty()) co_return std::nullopt;
    auto result = found(service, id, fields);
    if (result) {
        tell_lease(*result, read->heartbeat, read->now, std::chrono::steady_clock::now());
    }
    co_return result;
}

Task<Result<std::vector<std::string>>> InstanceReader::services(Deadline deadline) {
    auto const read = co_await index(deadline);
    if (read.has_error()) co_return read.error();
    co_return read->names;
}

Task<Result<InstanceReader::Index>> InstanceReader::index(Deadline deadline) {
    auto const key = scripts_.keys().services_index();
    Request request;
    redis::Response response;
    std::array<std::string_view, 1> const arguments{key};
    request.push("TIME");
    request.push("SMEMBERS", arguments);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    for (std::size_t i = 0; i < response.size(); ++i) {
        if (response[i].is_error()) {
            co_return redis::failure_of(response[i], "read the services " + key);
        }
    }
    Index result;
    result.now = time_of(response[0]);
    note_time(result.now);
    result.names.reserve(response[1].size());
    for (auto const name : response[1]) result.names.emplace_back(name.text());
    std::sort(result.names.begin(), result.names.end());
    co_return result;
}

Task<Result<std::vector<ServiceSummary>>> InstanceReader::summaries(Deadline deadline) {
    auto const read = co_await index(deadline);
    if (read.has_error()) co_return read.error();
    auto const& names = read->names;
    if (names.empty()) co_return std::vector<ServiceSummary>{};

    auto const oldest = '(' + std::to_string((read->now - Milliseconds{scripts_.lease()}).count());
    std::vector<ServiceSummary> result;
    result.reserve(names.size());
    Reads counts;
    counts.items = names.size();
    counts.push = [&](Request& request, std::size_t i) {
        auto const key = ServiceKeys{scripts_.keys().prefix(), names[i]}.heartbeats();
        std::array<std::string_view, 3> const range{key, oldest, "+inf"};
        request.push("ZCOUNT", range);
    };
    counts.take = [&](redis::Response const& response, std::size_t first,
                      std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (reply.is_error() && !is_wrong_type(reply)) {
                return redis::failure_of(reply, "count the instances of " + names[i]);
            }
            if (reply.is_error()) skip(names[i], {}, "its heartbeats are no sorted set");
            auto& summary = result.emplace_back();
            summary.service = names[i];
            summary.instances = static_cast<std::size_t>(reply.integer());
        }
        return std::nullopt;
    };
    auto const counted = co_await exec_reads(scripts_.core().session(), counts, deadline);
    if (counted.has_error()) co_return counted.error();
    co_return result;
}

std::optional<Found> InstanceReader::found(std::string const& service, std::string const& id,
                                           Fields fields) {
    auto stored = InstanceEntryCodec::parse_instance(service, id, fields);
    if (!stored) {
        // A Hash without host is no instance: peers leave such ones behind all the time.
        bool const described = std::any_of(fields.begin(), fields.end(),
                                           [](auto const& field) { return field.first == "host"; });
        if (described) skip(service, id, "its fields make no instance");
        return std::nullopt;
    }
    std::optional<Found> result{std::in_place};
    result->instance = std::move(stored->instance);
    result->state = stored->state;
    result->state.lease_until.reset();
    return result;
}

void InstanceReader::tell_lease(Found& found, double heartbeat, Milliseconds now,
                                std::chrono::steady_clock::time_point seen) const {
    auto const left = heartbeat + static_cast<double>(Milliseconds{scripts_.lease()}.count()) -
                      static_cast<double>(now.count());
    found.lease = std::max(bounded_time(left), Milliseconds{0});
    if (!found.instance.ephemeral) return;
    // Scores far in the future would overflow the clock: ten years are as good as for ever.
    constexpr Milliseconds longest = std::chrono::hours{24 * 3'650};
    found.state.lease_until = seen + std::min(*found.lease, longest);
}

void InstanceReader::note_time(Milliseconds now) {
    auto const own = std::chrono::duration_cast<Milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    auto const ahead = clock_.read(now, own, std::chrono::steady_clock::now());
    if (!ahead) return;
    scripts_.core().log().write(
        LogLevel::warning, "clock-skew",
        "this machine's clock and that of Redis differ by " + std::to_string(ahead->count()) +
            " ms: peers that go by their own clock may hide or keep instances wrongly");
}

void InstanceReader::skip(std::string_view service, std::string_view id, std::string_view why) {
    ++skipped_;
    std::string text{"left out "};
    text.append(service);
    if (!id.empty()) text.append("/").append(id);
    text.append(": ").append(why);
    scripts_.core().log().write(LogLevel::warning, "left-out", text);
}

}  // namespace rollcall::streaming

#include "cosky/instance_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/request.hpp"
#include "registry/exchange.hpp"
#include "registry/replies.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"

namespace rollcall::cosky {
namespace {

using Milliseconds = std::chrono::milliseconds;
using redis::Request;
using redis::Value;

// How long a refused clean-up is not tried again: a replica may become a master, a user get rights.
constexpr std::chrono::seconds reading_only{60};

// Keys that one EXISTS asks for: few enough not to hold Redis up.
constexpr std::size_t keys_per_count = 256;

// A TTL beyond this would overflow the clock: ten years are as good as for ever.
constexpr Milliseconds longest = std::chrono::hours{24 * 3'650};

/// As Redis' TTL rounds what PTTL tells.
std::int64_t in_seconds(Milliseconds lease) { return (lease.count() + 500) / 1'000; }

}  // namespace

Task<Result<std::vector<std::string>>> InstanceReader::services(std::string const& ns,
                                                                Deadline deadline) {
    auto const key = DiscoveryKeyGenerator::service_idx_key(ns);
    co_return co_await set_members(scripts_.core().session(), key, deadline);
}

Task<Result<std::vector<ServiceSummary>>> InstanceReader::summaries(std::string const& ns,
                                                                    Deadline deadline) {
    auto const names = co_await services(ns, deadline);
    if (names.has_error()) co_return names.error();
    std::vector<ServiceSummary> result(names->size());
    std::vector<std::pair<std::size_t, std::vector<std::string>>> counts;  // Service, its keys.
    Reads lists;
    lists.items = names->size();
    lists.bytes = 1'024;
    lists.push = [&](Request& request, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::instance_idx_key(ns, (*names)[i]);
        std::array<std::string_view, 1> const arguments{key};
        request.push("SMEMBERS", arguments);
    };
    lists.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            result[i].service = (*names)[i];
            auto const reply = response[i - first];
            if (reply.is_error() && !is_wrong_type(reply)) {
                return redis::failure_of(reply, "read the instances of " + (*names)[i]);
            }
            if (reply.is_error()) skip(ns, (*names)[i], "its list of instances is no set");
            for (auto const id : reply) {
                if (counts.empty() || counts.back().first != i ||
                    counts.back().second.size() == keys_per_count) {
                    counts.emplace_back().first = i;
                }
                counts.back().second.push_back(DiscoveryKeyGenerator::instance_key(ns, id.text()));
            }
        }
        return std::nullopt;
    };
    auto const listed = co_await exec_reads(scripts_.core().session(), lists, deadline);
    if (listed.has_error()) co_return listed.error();

    Reads living;
    living.items = counts.size();
    living.push = [&](Request& request, std::size_t i) {
        std::vector<std::string_view> const keys{counts[i].second.begin(), counts[i].second.end()};
        request.push("EXISTS", keys);
    };
    living.take = [&](redis::Response const& response, std::size_t first,
                      std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (reply.is_error()) return redis::failure_of(reply, "count instances");
            result[counts[i].first].instances += static_cast<std::size_t>(reply.integer());
        }
        return std::nullopt;
    };
    auto const counted = co_await exec_reads(scripts_.core().session(), living, deadline);
    if (counted.has_error()) co_return counted.error();
    co_return result;
}

/// None for what is no instance. `now` is Redis' time in seconds, of a moment before.
std::optional<InstanceReader::Listed> InstanceReader::listed(std::string_view ns,
                                                             std::string const& id, Value hash,
                                                             Value ttl, std::int64_t now) {
    if (hash.is_error()) {
        skip(ns, id, "its key is no Hash");
        return std::nullopt;
    }
    std::vector<HashField> fields;
    fields.reserve(hash.size() / 2 + 1);
    read_fields(hash, fields);
    std::string ttl_at;
    std::optional<Milliseconds> lease;
    if (ttl.integer(-1) >= 0) {
        lease = Milliseconds{ttl.integer()};
        ttl_at = std::to_string(now + in_seconds(*lease));
        fields.emplace_back("ttl_at", ttl_at);
    }
    auto found = ServiceInstanceCodec::decode(fields);
    if (!found) {
        skip(ns, id, "its fields make no instance");
        return std::nullopt;
    }
    // Else two could have the same id, and nobody could tell which one a change is about.
    if (auto const& own = found->instance.instance_id; own != id) {
        skip(ns, id, "its fields describe " + own);
        return std::nullopt;
    }
    Listed result;
    result.found = *std::move(found);
    result.lease = lease;
    if (lease && result.found.instance.ephemeral) {
        result.found.state.lease_until =
            std::chrono::steady_clock::now() + std::min(*lease, longest);
    }
    return result;
}

Task<Result<std::vector<InstanceReader::Listed>>> InstanceReader::list(std::string const& ns,
                                                                       std::string const& service,
                                                                       Deadline deadline) {
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns, service);
    auto const ids = co_await set_members(scripts_.core().session(), index, deadline);
    if (ids.has_error()) co_return ids.error();
    std::vector<Listed> result;
    result.reserve(ids->size());
    std::vector<std::string> expired;
    Reads reads;
    reads.items = ids->size();
    // What is usual, generously: eleven fields and their values, the time and the TTL.
    reads.nodes = 30;
    reads.bytes = 384;
    // The Hash first: one that is there and has no TTL behind it expired in between.
    reads.push = [&](Request& request, std::size_t i) {
        if (request.empty()) request.push("TIME");
        auto const key = DiscoveryKeyGenerator::instance_key(ns, (*ids)[i]);
        std::array<std::string_view, 1> const arguments{key};
        request.push("HGETALL", arguments);
        request.push("PTTL", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        if (response[0].is_error()) return redis::failure_of(response[0], "read Redis' clock");
        auto const now = response[0][0].integer();
        for (auto i = first; i < last; ++i) {
            auto const hash = response[1 + 2 * (i - first)];
            auto const ttl = response[2 + 2 * (i - first)];
            if (ttl.is_error() || (hash.is_error() && !is_wrong_type(hash))) {
                return redis::failure_of(ttl.is_error() ? ttl : hash, "read " + (*ids)[i]);
            }
            if (ttl.integer() == -2) {
                expired.push_back((*ids)[i]);
            } else if (hash.is_error() || !hash.empty()) {
                auto one = listed(ns, (*ids)[i], hash, ttl, now);
                if (one) result.push_back(*std::move(one));
            }
        }
        return std::nullopt;
    };
    auto const read = co_await exec_reads(scripts_.core().session(), reads, deadline);
    if (read.has_error()) co_return read.error();
    co_await clean_up(ns, expire_calls(ns, service, expired, Unannounced::kept), deadline);
    co_return result;
}

Task<Result<std::optional<InstanceReader::Listed>>> InstanceReader::one(std::string const& ns,
                                                                        InstanceId const& id,
                                                                        Deadline deadline) {
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns, id.service);
    auto const key = DiscoveryKeyGenerator::instance_key(ns, id.id);
    Request request;
    redis::Response response;
    std::array<std::string_view, 2> const member{index, id.id};
    std::array<std::string_view, 1> const hash{key};
    request.push("TIME");
    request.push("SISMEMBER", member);
    request.push("HGETALL", hash);
    request.push("PTTL", hash);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    for (std::size_t i = 0; i < response.size(); ++i) {
        auto const reply = response[i];
        if (!reply.is_error() || (i == 2 && is_wrong_type(reply))) continue;
        co_return redis::failure_of(reply, "read " + key);
    }
    if (response[1].integer() != 1) co_return std::nullopt;
    if (response[3].integer() == -2) {
        std::vector<std::string> const expired{id.id};
        co_await clean_up(ns, expire_calls(ns, id.service, expired, Unannounced::kept), deadline);
        co_return std::nullopt;
    }
    if (!response[2].is_error() && response[2].empty()) co_return std::nullopt;
    co_return listed(ns, id.id, response[2], response[3], response[0][0].integer());
}

Task<Result<std::optional<std::int64_t>>> InstanceReader::ttl_at(std::string const& ns,
                                                                 InstanceId const& id,
                                                                 Deadline deadline) {
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns, id.service);
    auto const key = DiscoveryKeyGenerator::instance_key(ns, id.id);
    Request request;
    redis::Response response;
    std::array<std::string_view, 2> const member{index, id.id};
    std::array<std::string_view, 1> const hash{key};
    request.push("TIME");
    request.push("SISMEMBER", member);
    request.push("PTTL", hash);
    auto const outcome = co_await scripts_.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    for (std::size_t i = 0; i < response.size(); ++i) {
        if (response[i].is_error()) co_return redis::failure_of(response[i], "read " + key);
    }
    if (response[1].integer() != 1) co_return std::nullopt;
    auto const left = response[2].integer();
    if (left == -2) {
        std::vector<std::string> const expired{id.id};
        co_await clean_up(ns, expire_calls(ns, id.service, expired, Unannounced::kept), deadline);
        co_return std::nullopt;
    }
    if (left < 0) co_return TTL_AT_FOREVER;
    co_return response[0][0].integer() + in_seconds(Milliseconds{left});
}

Task<void> InstanceReader::clean_up(std::string const& ns, std::vector<ExpireCall> calls,
                                    Deadline deadline) {
    auto const now = std::chrono::steady_clock::now();
    std::erase_if(reading_only_until_, [&](auto const& refused) { return refused.second <= now; });
    if (calls.empty() || reading_only_until_.contains(ns)) co_return;
    auto const removals = co_await scripts_.discovery_expire(calls, deadline);
    for (auto const& removed : removals) {
        if (removed.has_value()) continue;
        bool const refused = removed.error().code() == errc::access_denied ||
                             removed.error().code() == errc::unavailable;
        if (refused) reading_only_until_[ns] = now + reading_only;
        scripts_.core().log().write(LogLevel::info, "clean-up",
                                    "expired instances stay listed: " + removed.error().detail());
    }
}

void InstanceReader::skip(std::string_view ns, std::string_view id, std::string_view why) {
    ++skipped_;
    std::string text{"left out "};
    text.append(id).append(" in ").append(ns).append(": ").append(why);
    scripts_.core().log().write(LogLevel::warning, "left-out", text);
}

}  // namespace rollcall::cosky

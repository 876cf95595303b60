#include "cosky/live_reader.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "redis/request.hpp"
#include "registry/epoch.hpp"
#include "registry/exchange.hpp"
#include "registry/replies.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_changed_event.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {
namespace {

using redis::Request;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A TTL beyond this would overflow the clock: ten years are as good as for ever.
constexpr milliseconds longest = std::chrono::hours{24 * 3'650};

News news_of(InstanceEvent event) {
    switch (event) {
        case InstanceEvent::renewed:
            return News::renewed;
        case InstanceEvent::deregistered:
            return News::deregistered;
        case InstanceEvent::expired:
            return News::expired;
        default:
            return News::changed;
    }
}

/// Refers to one of a few that are always there, so that no message costs an allocation.
std::shared_ptr<void const> lasting(InstanceEvent event) {
    static constexpr std::array all{InstanceEvent::registered, InstanceEvent::deregistered,
                                    InstanceEvent::expired, InstanceEvent::renewed,
                                    InstanceEvent::metadata_set};
    auto const* const found = std::ranges::find(all, event);
    return {std::shared_ptr<void const>{}, found};
}

}  // namespace

LivePort::Channel LiveReader::channel_of(std::string_view service) const {
    return {DiscoveryKeyGenerator::instance_key_pattern(ns_, service), true};
}

LivePort::Channel LiveReader::channel_of_all() const {
    return {DiscoveryKeyGenerator::instance_key_pattern(ns_), true};
}

std::optional<std::string> LiveReader::service_of(std::string_view channel) const {
    auto const id = DiscoveryKeyGenerator::instance_id_of_key(ns_, channel);
    auto const at = id ? id->rfind('@') : std::string::npos;
    if (at == std::string::npos || is_blank(std::string_view{*id}.substr(0, at))) return {};
    return id->substr(0, at);
}

Task<Result<std::vector<std::string>>> LiveReader::services(Deadline deadline) {
    auto names = co_await set_members(scripts_.core().session(),
                                      DiscoveryKeyGenerator::service_idx_key(ns_), deadline);
    if (names) std::erase_if(*names, [](auto const& name) { return is_blank(name); });
    co_return names;
}

std::optional<LivePort::Message> LiveReader::read_message(std::string_view service,
                                                          std::string_view channel,
                                                          std::string_view payload) const {
    auto const id = DiscoveryKeyGenerator::instance_id_of_key(ns_, channel);
    if (!id) return std::nullopt;
    // The pattern of `a` also matches the ids of a service that is called `a@b`.
    if (!id->starts_with(service) || id->rfind('@') != service.size()) return std::nullopt;
    auto const event = parse_instance_event(payload);
    // Of an unknown payload only the id counts: the instance is read again.
    if (!event) return Message{*id, News::changed, {}, false};
    return Message{*id, news_of(*event), lasting(*event)};
}

Task<Result<std::vector<Sighting>>> LiveReader::look(std::string const& service,
                                                     FeedRead const& read, Deadline deadline) {
    if (!read.everything) co_return co_await look_at(service, read.ids, read, deadline);
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns_, service);
    auto const ids = co_await set_members(scripts_.core().session(), index, deadline);
    if (ids.has_error()) co_return ids.error();
    co_return co_await look_at(service, *ids, read, deadline);
}

/// What was asked about one id: its lease, whether it is listed, and its Hash.
struct LiveReader::Glance {
    redis::Value ttl;
    std::optional<redis::Value> member;  // None: it is known to be listed.
    std::optional<redis::Value> hash;

    std::optional<Failure> failure(std::string const& id) const {
        if (ttl.is_error()) return redis::failure_of(ttl, "read " + id);
        if (member && member->is_error()) return redis::failure_of(*member, "read " + id);
        if (hash && hash->is_error() && !is_wrong_type(*hash)) {
            return redis::failure_of(*hash, "read " + id);
        }
        return std::nullopt;
    }

    Sighting sighting(std::string const& id, Deadline seen) const {
        bool const is_listed = !member || member->integer() == 1;
        bool const stored = ttl.integer(-2) != -2;
        Sighting result;
        result.id = id;
        if (!is_listed || !stored) {
            result.presence = is_listed ? Presence::hollow
                              : stored  ? Presence::unlisted
                                        : Presence::absent;
            return result;
        }
        result.presence = Presence::alive;
        if (ttl.integer() >= 0) {
            result.state.lease_until = seen + std::min(milliseconds{ttl.integer()}, longest);
        }
        if (hash) describe(result);
        return result;
    }

    void describe(Sighting& result) const {
        std::vector<HashField> fields;
        if (!hash->is_error()) read_fields(*hash, fields);
        auto found = ServiceInstanceCodec::decode(fields);
        // One that describes another would give two the same id.
        if (found && found->instance.instance_id == result.id) {
            if (!found->instance.ephemeral) result.state.lease_until.reset();
            result.instance = std::make_shared<ServiceInstance const>(std::move(found->instance));
        } else {
            result.presence = Presence::unreadable;
        }
    }
};

Task<Result<std::vector<Sighting>>> LiveReader::look_at(std::string const& service,
                                                        std::vector<std::string> const& ids,
                                                        FeedRead const& read, Deadline deadline) {
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns_, service);
    std::size_t const commands = 1 + (read.everything ? 0 : 1) + (read.descriptions ? 1 : 0);
    auto const seen = steady_clock::now();
    std::vector<Sighting> result;
    result.reserve(ids.size());
    Reads reads;
    reads.items = ids.size();
    reads.nodes = read.descriptions ? 30 : 2;
    reads.bytes = read.descriptions ? 384 : 32;
    // The Hash first: one that is there and has no TTL behind it expired in between.
    reads.push = [&](Request& request, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::instance_key(ns_, ids[i]);
        std::array<std::string_view, 1> const hash{key};
        std::array<std::string_view, 2> const member{index, ids[i]};
        if (read.descriptions) request.push("HGETALL", hash);
        if (!read.everything) request.push("SISMEMBER", member);
        request.push("PTTL", hash);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto at = commands * (i - first);
            Glance glance;
            if (read.descriptions) glance.hash = response[at++];
            if (!read.everything) glance.member = response[at++];
            glance.ttl = response[at];
            if (auto failure = glance.failure(ids[i])) return failure;
            result.push_back(glance.sighting(ids[i], seen));
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(scripts_.core().session(), reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return result;
}

/// As CoSky's readers do. A failure is no matter: others clean up, too.
Task<void> LiveReader::clean_up(std::string const& service, std::vector<std::string> const& ids,
                                Deadline deadline) {
    auto const calls = expire_calls(ns_, service, ids, Unannounced::kept);
    (void)co_await scripts_.discovery_expire(calls, deadline);
}

std::string LiveReader::epoch_key() const { return epoch_key_of(ns_); }

}  // namespace rollcall::cosky

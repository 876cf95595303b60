#include "streaming/live_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/request.hpp"
#include "registry/epoch.hpp"
#include "registry/exchange.hpp"
#include "registry/key_scan.hpp"
#include "streaming/service_keys.hpp"

#include "rollcall/streaming/service_change_event.hpp"

namespace rollcall::streaming {
namespace {

using redis::Request;
using std::chrono::steady_clock;

// Scores far in the future would overflow the clock: ten years are as good as for ever.
constexpr Milliseconds longest = std::chrono::hours{24 * 3'650};

std::optional<std::chrono::system_clock::time_point> moment_of(double milliseconds) {
    using Clock = std::chrono::system_clock;
    constexpr auto latest =
        std::chrono::duration_cast<Milliseconds>(Clock::time_point::max().time_since_epoch());
    if (!(milliseconds > 0)) return std::nullopt;
    return Clock::time_point{std::min(bounded_time(milliseconds), latest)};
}

// Nobody may register more metadata than half of that.
constexpr std::size_t longest_description = std::size_t{128} << 10;

/// The others are what readers tell their own listeners.
bool is_published(ServiceChangeAction action) {
    return action == ServiceChangeAction::added || action == ServiceChangeAction::updated ||
           action == ServiceChangeAction::removed;
}

/// The score tells who has expired, whether or not the Hash is still there.
void miss_hash(Sighting& sighting) {
    if (sighting.presence == Presence::alive) sighting.presence = Presence::hollow;
}

}  // namespace

LivePort::Channel LiveReader::channel_of(std::string_view service) const {
    return {scripts_.keys().changes(service), false};
}

LivePort::Channel LiveReader::channel_of_all() const {
    return {escaped_for_match(scripts_.keys().services_index()) + ":*:changes", true};
}

std::optional<std::string> LiveReader::service_of(std::string_view channel) const {
    auto name = scripts_.keys().service_of_changes_channel(channel);
    if (name && !RegistryKeys::is_service_name_safe(*name)) name.reset();
    return name;
}

Task<Result<std::vector<std::string>>> LiveReader::services(Deadline deadline) {
    auto names = co_await reader_.services(deadline);
    if (names) {
        std::erase_if(*names,
                      [](auto const& name) { return !RegistryKeys::is_service_name_safe(name); });
    }
    co_return names;
}

std::optional<LivePort::Message> LiveReader::read_message(std::string_view service,
                                                          std::string_view,
                                                          std::string_view payload) const {
    Message message;
    auto event = parse_message(payload);
    if (!event) return message;
    // Releases up to 0.2.1 name what they were given, not what they stored.
    message.id = RegistryKeys::sanitize_instance_id(event->instance_id);
    if (event->action == ServiceChangeAction::removed) message.news = News::removed;
    if (!is_published(event->action)) return message;
    if (payload.size() > longest_description) event->instance.reset();
    if (event->instance) {  // Nor what they stored it under.
        event->instance->service_name = service;
        event->instance->instance_id = message.id;
    }
    message.event = std::make_shared<ServiceChangeEvent const>(*std::move(event));
    return message;
}

Task<Result<std::vector<Sighting>>> LiveReader::look(std::string const& service,
                                                     FeedRead const& read, Deadline deadline) {
    if (read.everything) co_return co_await look_at_all(service, read.descriptions, deadline);
    co_return co_await look_at(service, read, deadline);
}

Sighting LiveReader::listed(std::string id, double heartbeat, Milliseconds now,
                            Deadline seen) const {
    auto const left = bounded_time(heartbeat + static_cast<double>(lease().count()) -
                                   static_cast<double>(now.count()));
    Sighting sighting;
    sighting.id = std::move(id);
    // Readers take what was heard of later than one lease ago.
    sighting.presence = left > Milliseconds{0} ? Presence::alive : Presence::expired;
    sighting.state.last_heartbeat_at = moment_of(heartbeat);
    sighting.state.lease_until = seen + std::clamp(left, Milliseconds{0}, longest);
    return sighting;
}

/// A Hash without a host describes nothing: peers leave such ones behind all the time.
void LiveReader::describe(Sighting& sighting, std::string const& service,
                          std::span<HashField const> fields) {
    auto const has_host = [](HashField const& field) { return field.first == "host"; };
    auto stored = InstanceEntryCodec::parse_instance(service, sighting.id, fields);
    if (stored) {
        sighting.state.registered_at = stored->state.registered_at;
        sighting.instance = std::make_shared<ServiceInstance const>(std::move(stored->instance));
    } else if (std::none_of(fields.begin(), fields.end(), has_host)) {
        miss_hash(sighting);
    } else if (sighting.presence == Presence::alive) {
        sighting.presence = Presence::unreadable;
    }
}

Task<Result<std::vector<Sighting>>> LiveReader::look_at_all(std::string const& service,
                                                            bool descriptions, Deadline deadline) {
    auto const seen = steady_clock::now();
    auto const members = co_await reader_.members(service, std::nullopt, deadline);
    if (members.has_error()) co_return members.error();
    std::vector<Sighting> result;
    result.reserve(members->list.size());
    for (auto const& [id, heartbeat] : members->list) {
        result.push_back(listed(id, heartbeat, members->now, seen));
    }
    if (!descriptions) co_return result;

    std::vector<bool> stored(result.size(), false);
    InstanceReader::OnHash const on_hash = [&](std::size_t index, InstanceReader::Fields fields) {
        stored[index] = true;
        describe(result[index], service, fields);
    };
    auto const read = co_await reader_.hashes(service, members->list, on_hash, deadline);
    if (read.has_error()) co_return read.error();
    for (std::size_t i = 0; i < result.size(); ++i) {
        if (!stored[i]) miss_hash(result[i]);
    }
    co_return result;
}

/// What was asked about one id: its score, and its Hash or whether there is one.
struct LiveReader::Glance {
    redis::Value score;
    redis::Value hash;

    bool listed() const { return !score.is_null(); }
    bool odd() const { return hash.is_error(); }  // Its key is no Hash.
    bool stored() const { return hash.is_aggregate() ? !hash.empty() : hash.integer() > 0; }
    std::optional<Failure> failure(std::string const& id) const {
        if (score.is_error()) return redis::failure_of(score, "read the heartbeat of " + id);
        if (odd() && !is_wrong_type(hash)) return redis::failure_of(hash, "read " + id);
        return std::nullopt;
    }
};

Sighting LiveReader::sighting_of(std::string const& service, std::string const& id,
                                 Glance const& glance, Milliseconds now, Deadline seen) const {
    if (!glance.listed()) {
        bool const gone = !glance.odd() && !glance.stored();
        return Sighting{id, gone ? Presence::absent : Presence::unlisted, {}, {}};
    }
    auto sighting = listed(id, score_of(glance.score.text()), now, seen);
    if (glance.odd() || !glance.stored()) {
        miss_hash(sighting);
    } else if (glance.hash.is_aggregate()) {
        std::vector<HashField> fields;
        read_fields(glance.hash, fields);
        describe(sighting, service, fields);
    }
    return sighting;
}

Task<Result<std::vector<Sighting>>> LiveReader::look_at(std::string const& service,
                                                        FeedRead const& read, Deadline deadline) {
    ServiceKeys const keys{scripts_.keys().prefix(), service};
    auto const heartbeats = keys.heartbeats();
    auto const seen = steady_clock::now();
    std::vector<Sighting> result;
    result.reserve(read.ids.size());
    Reads reads;
    reads.items = read.ids.size();
    reads.nodes = read.descriptions ? 28 : 2;
    reads.bytes = read.descriptions ? 512 : 32;
    reads.push = [&](Request& request, std::size_t i) {
        if (request.empty()) request.push("TIME");
        auto const key = keys.instance(read.ids[i]);
        std::array<std::string_view, 2> const score{heartbeats, read.ids[i]};
        std::array<std::string_view, 1> const hash{key};
        request.push("ZSCORE", score);
        request.push(read.descriptions ? "HGETALL" : "HLEN", hash);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        if (response[0].is_error()) return redis::failure_of(response[0], "read Redis' clock");
        auto const now = time_of(response[0]);
        for (auto i = first; i < last; ++i) {
            Glance const glance{response[1 + 2 * (i - first)], response[2 + 2 * (i - first)]};
            if (auto failure = glance.failure(read.ids[i])) return failure;
            result.push_back(sighting_of(service, read.ids[i], glance, now, seen));
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(scripts_.core().session(), reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return result;
}

Task<void> LiveReader::clean_up(std::string const&, std::vector<std::string> const&, Deadline) {
    co_return;
}

Task<Result<std::vector<bool>>> LiveReader::listed(std::vector<std::string> const& services,
                                                   Deadline deadline) {
    auto const index = scripts_.keys().services_index();
    std::vector<bool> result(services.size(), true);
    Reads reads;
    reads.items = services.size();
    reads.per_request = 512;
    reads.bytes = 1;
    reads.push = [&](Request& request, std::size_t i) {
        request.push("SISMEMBER", {index, services[i]});
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (reply.is_error()) return redis::failure_of(reply, "read the list of services");
            result[i] = reply.integer() == 1;
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(scripts_.core().session(), reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return result;
}

std::string LiveReader::epoch_key() const { return epoch_key_of(scripts_.keys().prefix()); }

}  // namespace rollcall::streaming

#include "model/feed/truth.hpp"

#include <algorithm>

namespace rollcall::test::feed {
namespace {

constexpr std::size_t most_versions = 32;

std::size_t number_of(std::string_view id) { return static_cast<std::size_t>(id.front() - 'a'); }

std::string about(std::string_view id, std::string_view wrong) {
    return std::string{id} + ": " + std::string{wrong};
}

}  // namespace

std::shared_ptr<ServiceInstance const> described(std::size_t i, Version version) {
    using Versions = std::array<std::shared_ptr<ServiceInstance const>, most_versions>;
    static auto const all = [] {
        std::array<Versions, most_instances> made;
        for (std::size_t of = 0; of < most_instances; ++of) {
            for (std::size_t port = 0; port < most_versions; ++port) {
                auto instance = std::make_shared<ServiceInstance>();
                instance->instance_id = ids.at(of);
                instance->port = static_cast<int>(port);
                made.at(of).at(port) = std::move(instance);
            }
        }
        return made;
    }();
    return all.at(i).at(version);
}

Version version_of(ServiceInstance const& instance) { return static_cast<Version>(instance.port); }

std::string Truth::check(FeedOutcome const& outcome, Server const& server, ServiceFeed const& feed,
                         std::uint8_t excusable, Time now) {
    for (auto const& change : outcome.changes) {
        auto const i = number_of(change.id);
        bool const excuse = (excusable >> i & 1U) != 0;
        auto& told = told_.at(i);
        std::string wrong;
        switch (change.kind) {
            case ChangeKind::current:
            case ChangeKind::added:
                wrong = added(change, told);
                break;
            case ChangeKind::updated:
                wrong = updated(change, told);
                break;
            case ChangeKind::removed:
                wrong = removed(change, told, server[i], excuse, now);
                break;
            case ChangeKind::suspect:
                wrong = suspected(change, told, feed, now);
                break;
            case ChangeKind::resync:
                wrong = "a resync is nothing that a feed tells";
                break;
        }
        if (!wrong.empty()) return about(change.id, wrong);
    }
    for (auto const& id : outcome.renewed) {
        if (told_.at(number_of(id)).shown == 0) return about(id, "renewed, and not there");
    }
    for (auto const& id : outcome.hollow) {
        if (told_.at(number_of(id)).shown != 0) return about(id, "cleaned up while it is shown");
    }
    loaded_ = feed.loaded();
    return {};
}

std::string Truth::added(FeedChange const& change, Told& told) const {
    if (told.shown != 0) return "added, and was there";
    if ((change.kind == ChangeKind::current) == loaded_) return "new, or there all the time?";
    auto const version = version_of(*change.instance);
    if (version <= told.dropped) return "back, and nobody registered it again";
    told.shown = version;
    return {};
}

std::string Truth::updated(FeedChange const& change, Told& told) {
    if (told.shown == 0) return "updated, and was not there";
    if (!change.previous || version_of(*change.previous) != told.shown) {
        return "updated from what it was not";
    }
    bool const cleared = std::exchange(told.grace_until, std::nullopt).has_value();
    auto const version = version_of(*change.instance);
    if (version < told.shown) return "described as before";
    if (version == told.shown && !cleared) return "told as updated, and nothing is new";
    told.shown = version;
    return {};
}

std::string Truth::removed(FeedChange const& change, Told& told, Record const& record,
                           bool excusable, Time now) {
    if (told.shown == 0) return "removed, and was not there";
    if (version_of(*change.instance) != told.shown) return "removed, and was another";
    if (change.reason == RemovalReason::none) return "removed for no reason";
    if (change.reason == RemovalReason::lost && now < told.grace_until.value_or(Time::max())) {
        return "lost before its grace ended";
    }
    told.dropped = told.shown;
    if (record.lives() && told.shown >= record.born) {
        // Its owner cannot renew it any more.
        bool const lost = record.odd && change.reason == RemovalReason::lost;
        if (!excusable && !lost) return "removed while its owner lives";
        told.dropped = 0;
    }
    told.shown = 0;
    told.grace_until.reset();
    return {};
}

std::string Truth::suspected(FeedChange const& change, Told& told, ServiceFeed const& feed,
                             Time now) const {
    if (told.shown == 0) return "suspect, and was not there";
    if (told.grace_until) return "suspect once more";
    if (!faults_) return "suspect without a fault";
    auto const known = feed.instances().find(change.id);
    if (known == feed.instances().end()) return "suspect, and not there any more";
    auto const until = known->second.state.lease_until.value_or(now);
    told.grace_until = std::max(until, now + lease);
    return {};
}

std::string Truth::check(Server const& server, ServiceFeed const& feed) const {
    std::size_t shown = 0;
    for (std::size_t i = 0; i < most_instances; ++i) {
        auto const& told = told_.at(i);
        if (told.shown == 0) continue;
        ++shown;
        auto const found = feed.instances().find(ids.at(i));
        if (found == feed.instances().end()) return about(ids.at(i), "left without being told");
        auto const& known = found->second;
        if (version_of(*known.instance) != told.shown) {
            return about(ids.at(i), "changed without being told");
        }
        if (known.grace_until != told.grace_until) return about(ids.at(i), "its grace moved");
        if (known.state.suspect != known.grace_until.has_value()) {
            return about(ids.at(i), "suspect or not?");
        }
        if (known.state.lease_until.value_or(Time::min()) > server[i].acknowledged_until) {
            return about(ids.at(i), "its lease is longer than Redis gave");
        }
    }
    if (shown != feed.instances().size()) return "one came without being told";
    return {};
}

bool Truth::may_linger(std::size_t i, Server const& server, Time now) const {
    auto const& record = server[i];
    auto const& told = told_.at(i);
    if (told.grace_until) return now < *told.grace_until;
    bool const untold = record.owner == Owner::dead || record.damaged;
    return untold && now < record.acknowledged_until;
}

std::string Truth::check_rest(Server const& server, ServiceFeed const& feed, bool subscribed,
                              Time now) const {
    bool const live = feed.live();
    if (live != subscribed && live) return "messages do not come, and it believes that they do";
    for (std::size_t i = 0; i < most_instances; ++i) {
        auto const& record = server[i];
        auto const shown = told_.at(i).shown;
        bool const had_its_chance = live || told_.at(i).read == record.writes;
        if (server.serves(i, now) && had_its_chance) {
            if (shown == 0) return about(ids.at(i), "hidden");
            bool const old = shown != record.stored_version && !told_.at(i).grace_until;
            if (old) return about(ids.at(i), "its description is an old one");
        }
        if (live && shown != 0 && !record.lives() && !may_linger(i, server, now)) {
            return about(ids.at(i), "lingers");
        }
    }
    return {};
}

std::string Truth::incomplete(Server const& server, ServiceFeed const& feed) const {
    if (!feed.live()) return "it is not live";
    for (std::size_t i = 0; i < most_instances; ++i) {
        auto const& record = server[i];
        auto const& told = told_.at(i);
        if (record.odd && record.lives()) continue;  // Shown or not: nothing of it can be read.
        auto const right = record.lives() ? record.version : Version{0};
        if (told.shown != right) return about(ids.at(i), right ? "is missing" : "is still there");
        if (told.grace_until) return about(ids.at(i), "is suspect for ever");
    }
    return {};
}

void Truth::add_to(Fingerprint& fingerprint, Server const& server) const {
    for (std::size_t i = 0; i < most_instances; ++i) {
        auto const& told = told_.at(i);
        fingerprint.add(std::uint64_t{told.shown} | std::uint64_t{told.dropped} << 8U |
                        std::uint64_t{told.excused} << 16U |
                        std::uint64_t{told.read == server[i].writes} << 17U);
        fingerprint.add(told.grace_until);
    }
    fingerprint.add(std::uint64_t{loaded_} | std::uint64_t{faults_} << 1U);
}

}  // namespace rollcall::test::feed

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "registry/announce/announcer_loop.hpp"
#include "registry/script_calls.hpp"

namespace rollcall::announce {
namespace {

using std::chrono::milliseconds;

/// The leases are looked at for other owners' renewals once in so many rounds.
constexpr std::uint64_t rounds_between_looks = 10;

/// Of a round, in one request: some milliseconds of Redis, so that a registration of ours does not
/// wait behind a whole round.
constexpr std::size_t asked_at_once = 1'024;
static_assert(asked_at_once <= LayoutPort::max_batch);

}  // namespace

Task<void> AnnouncerLoop::round(Call call) {
    ++begun_rounds_;
    auto const order = by_service(call.keys);
    Round round;
    round.beats.assign(call.keys.size(), Machine::Beat::failed);
    for (auto const place : order) {
        auto const key = call.keys[place];
        round.keys.push_back(key);
        round.ids.push_back(entries_.at(key).record->id);
    }
    try {
        co_await look_before_round();
        co_await beat(round);
        co_await find_unlisted(round);
        bool const known = co_await read_marks(machine_.announced(), Before::judgement);
        // Whom a drain may have deregistered, nobody has removed.
        if (!known) std::ranges::replace(round.beats, Machine::Beat::gone, Machine::Beat::failed);
        auto const gone = std::count(round.beats.begin(), round.beats.end(), Machine::Beat::gone);
        if (gone > 0) co_await find_generation();
    } catch (std::exception const& error) {
        if (!is_cancellation(error)) {
            core_->log().write(LogLevel::warning, "announce",
                               std::string{"a round of heartbeats failed: "} + error.what());
        }
    }
    bool const look_at_all = rounds_++ % rounds_between_looks == 0;
    std::vector<Machine::Beat> beats(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) beats[order[i]] = round.beats[i];
    tell(machine_.answer_round(call.number, beats, now()));
    for (auto const key : call.keys) refresh(key);
    wake_.notify();
    if (look_at_all || !owners_.suspected().empty()) co_await look_behind_round(look_at_all);
}

/// The places of `keys`, those of each service together, as one script call renews instances of
/// one service.
std::vector<std::size_t> AnnouncerLoop::by_service(Keys const& keys) const {
    std::unordered_map<std::string_view, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        // Nothing leaves between the decision and this.
        places[entries_.at(keys[i]).record->id.service].push_back(i);
    }
    std::vector<std::size_t> order;
    order.reserve(keys.size());
    for (auto const& [service, some] : places) order.insert(order.end(), some.begin(), some.end());
    return order;
}

/// Whether all of them are known; else what was known before holds.
Task<bool> AnnouncerLoop::read_marks(Keys keys, Before before) {
    for (std::size_t first = 0; first < keys.size(); first += asked_at_once) {
        auto const last = std::min(first + asked_at_once, keys.size());
        std::vector<Key> asked;
        std::vector<InstanceId> ids;
        for (auto i = first; i < last; ++i) {
            auto const* const entry = find(keys[i]);
            if (!entry) continue;
            asked.push_back(keys[i]);
            ids.push_back(entry->record->id);
        }
        auto const marks = co_await marks_.read(ids, core_->deadline());
        if (marks.has_error()) co_return false;
        for (std::size_t i = 0; i < asked.size(); ++i) note_mark(asked[i], (*marks)[i], before);
        wake_.notify();
    }
    co_return true;
}

void AnnouncerLoop::note_mark(Key key, std::optional<DrainMark> const& mark, Before before) {
    auto const drain = mark ? mark->drain() : Drain{};
    bool const over = drain.state == Drain::State::over;
    if (over && before == Before::registration) machine_.mark_as_past(key, drain.number);
    auto const notices = machine_.mark(key, drain, now());
    if (!notices.empty() && notices.back().event == AnnouncementEvent::restored) {
        note_end_of_drain(key);
    }
    tell(notices);
}

/// The operator's program disables an instance itself, maybe behind what was written here last.
void AnnouncerLoop::note_end_of_drain(Key key) {
    auto* const entry = find(key);
    if (!entry) return;
    ++entry->ended_drains;
    if (entry->written && entry->written->enabled) entry->doubt(enabled_part);
}

/// Each part has its own time, too: a million take longer than one request may.
Task<void> AnnouncerLoop::beat(Round& round) {
    for (std::size_t first = 0; first < round.ids.size(); first += asked_at_once) {
        auto const last = std::min(first + asked_at_once, round.ids.size());
        co_await beat_some(round, first, last);
    }
}

Task<void> AnnouncerLoop::beat_some(Round& round, std::size_t first, std::size_t last) {
    auto const ids = std::span<InstanceId const>{round.ids}.subspan(first, last - first);
    auto const found = co_await port_->heartbeat(ids, core_->deadline());
    note_renewal(found);
    if (found.has_error()) {
        auto const& why = found.error();
        if (is_unanswered(why) || is_transient(why.code())) co_return;
        std::fill_n(round.beats.begin() + static_cast<std::ptrdiff_t>(first), last - first,
                    Machine::Beat::refused);
        co_return;
    }
    for (std::size_t i = first; i < last; ++i) {
        round.beats[i] = beat_of((*found)[i - first], round.keys[i]);
    }
}

AnnouncerMachine::Beat AnnouncerLoop::beat_of(Liveness liveness, Key key) {
    using Beat = Machine::Beat;
    switch (liveness) {
        case Liveness::alive:
            return Beat::alive;
        case Liveness::gone:
            return Beat::gone;
        case Liveness::failed:
            return Beat::failed;
        case Liveness::refused:
            return Beat::refused;
        case Liveness::persistent:
            return beat_of_persistent(key);
    }
    return Beat::failed;
}

AnnouncerMachine::Beat AnnouncerLoop::beat_of_persistent(Key key) {
    using Beat = Machine::Beat;
    auto const* const entry = find(key);
    auto const* const wanted = machine_.find(key);
    if (!entry || !wanted) return Beat::failed;  // Released meanwhile.
    auto const& record = *entry->record;
    if (record.adopted) return Beat::persistent;
    if (!wanted->ephemeral) return Beat::alive;
    // It would outlive us: only a registration gives it a lease again.
    core_->log().write(LogLevel::warning, "announced persistent",
                       subject("somebody took the lease of", record.id.service, record.id.id) +
                           ": registering it again");
    return Beat::unlisted;
}

/// Leases run out while nobody can be renewed. That Redis cannot be reached has been told.
void AnnouncerLoop::note_renewal(Result<std::vector<Liveness>> const& found) {
    bool const failed = found.has_error() && found.error().code() != errc::not_connected;
    if (failed) {
        core_->log().write_state(
            LogLevel::warning, "renewal", "failing",
            "cannot renew instances, will keep trying: " + found.error().detail());
    }
    bool const renewed = found.has_value() && std::ranges::any_of(*found, [](Liveness one) {
                             return one == Liveness::alive || one == Liveness::persistent;
                         });
    if (cannot_renew_ && renewed) {
        core_->log().write_state(LogLevel::info, "renewal", "working", "renewing again");
    }
    cannot_renew_ = failed || (cannot_renew_ && !renewed);
}

/// What is renewed in a service that nobody finds is not registered.
Task<void> AnnouncerLoop::find_unlisted(Round& round) {
    std::set<std::string> names;
    for (auto const& id : round.ids) names.insert(id.service);
    std::vector<std::string> const services{names.begin(), names.end()};
    auto const listed = co_await port_->live().listed(services, core_->deadline());
    if (listed.has_error()) co_return;
    for (std::size_t i = 0; i < services.size(); ++i) {
        if ((*listed)[i]) names.erase(services[i]);
    }
    if (names.empty()) co_return;
    for (std::size_t i = 0; i < round.ids.size(); ++i) {
        auto& beat = round.beats[i];
        bool const stored = beat == Machine::Beat::alive || beat == Machine::Beat::persistent;
        if (stored && names.contains(round.ids[i].service)) beat = Machine::Beat::unlisted;
    }
}

/// Leases of some instances, as they are read now.
struct AnnouncerLoop::Look {
    struct Service {
        FeedRead read;
        Keys keys;
    };
    struct Seen {
        Key key;
        Machine::Time lease_until;
        milliseconds took;
    };
    std::map<std::string, Service> services = {};
    std::vector<Seen> seen = {};

    void add(InstanceId const& id, Key key) {
        auto& service = services[id.service];
        service.read.ids.push_back(id.id);
        service.keys.push_back(key);
    }
};

/// In one request's time for all: a heartbeat may wait for it.
Task<void> AnnouncerLoop::look(Look& look) {
    auto const deadline = core_->deadline();
    for (auto const& [name, service] : look.services) {
        auto const begun = now();
        auto const found = co_await port_->live().look(name, service.read, deadline);
        auto const took = std::chrono::ceil<milliseconds>(now() - begun);
        if (found.has_error()) co_return;
        for (std::size_t i = 0; i < service.keys.size() && i < found->size(); ++i) {
            auto const& sighting = (*found)[i];
            auto const until = sighting.state.lease_until;
            if (sighting.presence != Presence::alive || !until) continue;
            look.seen.push_back({service.keys[i], *until, took});
        }
    }
}

Task<void> AnnouncerLoop::look_behind_round(bool at_all) {
    auto const round = begun_rounds_;
    Look leases;
    for (auto const key : at_all ? machine_.announced() : owners_.suspected()) {
        auto const* const entry = find(key);
        if (entry && machine_.registered(key)) leases.add(entry->record->id, key);
    }
    co_await look(leases);
    if (round != begun_rounds_) co_return;  // The next one may have renewed what was seen.
    for (auto const& seen : leases.seen) {
        if (find(seen.key)) owners_.note(seen.key, seen.lease_until, seen.took);
    }
}

Task<void> AnnouncerLoop::look_before_round() {
    Look leases;
    for (auto const key : owners_.noted()) {
        if (auto const* const entry = find(key)) leases.add(entry->record->id, key);
    }
    co_await look(leases);
    for (auto const& seen : leases.seen) {
        if (!owners_.compare(seen.key, seen.lease_until)) continue;
        tell(seen.key, AnnouncementEvent::conflict);
    }
    owners_.forget_all();
}

}  // namespace rollcall::announce

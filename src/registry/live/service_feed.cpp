#include "registry/live/service_feed.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace rollcall {
namespace {

using std::chrono::milliseconds;

// Between two questions about a lease that seems to be over and is not.
constexpr milliseconds question_pause{50};

/// When Redis is to be asked about it.
std::optional<ServiceFeed::Time> moment_of(ServiceFeed::Known const& known) {
    return known.grace_until ? known.grace_until : known.state.lease_until;
}

}  // namespace

ServiceFeed::ServiceFeed(FeedOptions options, Time now)
    : options_(options),
      random_(options.seed),
      blind_at_(now + options.blind_period),
      retry_pause_(options.first_retry) {}

/// Something newer may have been missed: who left may be back.
void ServiceFeed::outdate(NewsById& news) {
    for (auto& [id, what] : news) {
        if (what == News::deregistered || what == News::removed) what = News::changed;
    }
}

void ServiceFeed::disturb() {
    resync_ = true;
    outdate(news_);
    if (!flight_) return;
    flight_->disturbed = true;
    outdate(flight_->news);
}

void ServiceFeed::confirmed(Time) {
    disturb();
    connected_ = true;
    doubted_ = false;
    blind_ = false;
}

void ServiceFeed::lost(Time now) {
    disturb();
    connected_ = false;
    blind_at_ = now + options_.blind_period;
}

void ServiceFeed::refused(Time now) {
    if (!loaded()) blind_at_ = std::min(blind_at_, now);
}

void ServiceFeed::doubt(Time) {
    doubted_ = doubted_ || !resync_;  // What is to be read at once stays so.
    disturb();
}

void ServiceFeed::message(std::string_view id, News news, Time now) {
    auto const known = instances_.find(id);
    if (news == News::renewed) {
        // Its lease is asked for when it seems to end.
        if (known != instances_.end() && !known->second.grace_until) return;
        news = News::changed;
    }
    auto const pending = news_.find(id);
    if (pending != news_.end()) {
        pending->second = news;
    } else if (news_.size() < options_.most_ids) {
        news_.emplace(id, news);
    } else {
        doubt(now);
    }
}

bool ServiceFeed::resync_due(Time now) const {
    if (!resync_) return false;
    if (!connected_) return blind_at_ <= now;
    return !doubted_ || resync_not_before_ <= now;
}

void ServiceFeed::collect_due(Time now) {
    if (now < due_at_) return;
    due_at_ = Time::max();
    for (auto const& [id, known] : instances_) {
        auto const moment = moment_of(known);
        if (!moment) continue;
        if (*moment <= now) {
            questionable_.insert(id);
        } else {
            due_at_ = std::min(due_at_, *moment);
        }
    }
}

std::optional<FeedRead> ServiceFeed::next_read(Time now) {
    if (flight_ || now < retry_at_) return std::nullopt;
    collect_due(now);
    Flight flight;
    if (resync_due(now)) {
        flight.read = whole_read(now);
        flight.news = std::exchange(news_, {});
    } else if (!news_.empty()) {
        flight.read = news_read();
        for (auto const& id : flight.read.ids) flight.news.insert(news_.extract(id));
    } else if (may_question() && !questionable_.empty()) {
        flight.read = question_read();
    } else if (live() && reconcile_at_ <= now) {
        flight.read.everything = true;
    } else {
        return std::nullopt;
    }
    flight.asked_at = now;
    flight.read.number = ++reads_;
    flight_ = std::move(flight);
    return flight_->read;
}

FeedRead ServiceFeed::whole_read(Time now) {
    resync_not_before_ = now + options_.doubt_pause;
    blind_at_ = now + options_.blind_period;
    blind_ = !connected_;
    FeedRead read;
    read.everything = true;
    read.descriptions = true;
    read.proof = true;
    return read;
}

FeedRead ServiceFeed::news_read() {
    FeedRead read;
    read.descriptions = true;
    for (auto const& [id, news] : news_) read.ids.push_back(id);
    return read;
}

FeedRead ServiceFeed::question_read() {
    FeedRead read;
    read.proof = true;
    auto const count = std::min(questionable_.size(), options_.most_ids);
    auto const end = std::next(questionable_.begin(), static_cast<std::ptrdiff_t>(count));
    read.ids.assign(questionable_.begin(), end);
    questionable_.erase(questionable_.begin(), end);
    // Who was missed may be described anew, and what is left of its Hash may describe nothing.
    read.descriptions = std::any_of(read.ids.begin(), read.ids.end(), [this](auto const& id) {
        auto const known = instances_.find(id);
        return known != instances_.end() && known->second.missed;
    });
    return read;
}

void ServiceFeed::retry(Flight&& flight, Time now) {
    news_.merge(flight.news);  // What came since is newer.
    if (!flight.read.everything && flight.read.proof) {
        questionable_.insert(flight.read.ids.begin(), flight.read.ids.end());
    }
    retry_at_ = now + retry_pause_;
    retry_pause_ = std::min(2 * retry_pause_, options_.last_retry);
}

FeedOutcome ServiceFeed::answer(FeedAnswer answer, Time now) {
    FeedOutcome outcome;
    if (!flight_ || flight_->read.number != answer.number) return outcome;
    auto flight = *std::exchange(flight_, std::nullopt);
    if (!answer.complete) {
        retry(std::move(flight), now);
        return outcome;
    }
    retry_pause_ = options_.first_retry;
    if (flight.read.proof && !answer.path_clean) retry_at_ = now + options_.first_retry;
    confirmed_at_ = now;

    auto const evidence = weigh(answer, flight, now);
    for (auto& sighting : answer.sightings) see(sighting, evidence, outcome);
    if (flight.read.everything) look_for_unseen(evidence, outcome);
    if (flight.read.everything && flight.read.descriptions) {
        settle_whole(evidence);
    } else if (flight.read.everything) {
        plan_reconciliation(now);
        rotate();
    }
    return outcome;
}

ServiceFeed::Evidence ServiceFeed::weigh(FeedAnswer& answer, Flight const& flight, Time now) {
    auto const& read = flight.read;
    bool const undisturbed = connected_ && !flight.disturbed && (!read.proof || answer.path_clean);
    std::optional<GenerationNumber> confers;
    if (read.everything && read.descriptions) {
        if (undisturbed) confers = answer.generation;
    } else {
        if (read.proof && undisturbed && !resync_ && answer.generation != generation_) {
            doubt(now);
        }
        if (!resync_) confers = generation_;
    }
    return {answer, flight, undisturbed, confers, now};
}

void ServiceFeed::settle_whole(Evidence const& evidence) {
    loaded_ = true;
    plan_reconciliation(evidence.now);
    if (!connected_) return;
    if (evidence.undisturbed) {
        generation_ = evidence.answer.generation;
        resync_ = false;
        doubted_ = false;
    } else if (!evidence.flight.disturbed) {
        doubted_ = true;  // No PING came back: soon again, but not at once.
    }
}

/// Those that a complete read did not list.
void ServiceFeed::look_for_unseen(Evidence const& evidence, FeedOutcome& outcome) {
    std::unordered_set<std::string_view> seen;
    seen.reserve(evidence.answer.sightings.size());
    for (auto const& sighting : evidence.answer.sightings) seen.insert(sighting.id);
    Sighting unlisted;
    unlisted.presence = Presence::unlisted;
    for (auto known = instances_.begin(); known != instances_.end();) {
        auto const next = std::next(known);
        if (!seen.contains(known->first)) see_missing(known, unlisted, evidence, outcome);
        known = next;
    }
}

void ServiceFeed::see(Sighting& sighting, Evidence const& evidence, FeedOutcome& outcome) {
    if (sighting.presence == Presence::unreadable) {
        return see_unreadable(sighting, evidence, outcome);
    }
    if (sighting.presence == Presence::alive) return see_alive(sighting, evidence, outcome);
    auto const known = instances_.find(sighting.id);
    if (known != instances_.end()) {
        see_missing(known, sighting, evidence, outcome);
    } else if (sighting.presence == Presence::hollow) {
        outcome.hollow.push_back(sighting.id);
    }
}

void ServiceFeed::see_alive(Sighting& sighting, Evidence const& evidence, FeedOutcome& outcome) {
    questionable_.erase(sighting.id);
    auto found = instances_.find(sighting.id);
    if (found == instances_.end()) {
        if (!sighting.instance) {
            news_.try_emplace(sighting.id, News::changed);
            return;
        }
        Known const known{sighting.instance, sighting.state, evidence.confers, std::nullopt};
        note_deadline(known, evidence.now);
        instances_.emplace(sighting.id, known);
        auto const kind = loaded_ ? ChangeKind::added : ChangeKind::current;
        outcome.changes.push_back({kind, RemovalReason::none, sighting.id, sighting.instance, {}});
        return;
    }

    auto& known = found->second;
    bool const lease_went = known.state.lease_until && !sighting.state.lease_until;
    if (!sighting.instance && (known.missed || lease_went)) {
        // That it is on the list of leases proves less than what missed it; and where a lease goes,
        // its key may hold something else by now.
        news_.try_emplace(sighting.id, News::changed);
        return;
    }
    known.missed = known.evicted = false;
    bool const cleared = std::exchange(known.grace_until, std::nullopt).has_value();
    auto const registered_at = known.state.registered_at;
    known.state = sighting.state;
    if (!known.state.registered_at) known.state.registered_at = registered_at;
    if (evidence.confers) known.generation = evidence.confers;
    note_deadline(known, evidence.now);

    auto const previous = known.instance;
    if (sighting.instance && *sighting.instance != *previous) known.instance = sighting.instance;
    if (cleared || known.instance != previous) {
        outcome.changes.push_back(
            {ChangeKind::updated, RemovalReason::none, sighting.id, known.instance, previous});
    } else {
        outcome.renewed.push_back(sighting.id);
    }
}

/// Its last good description stays for as long as a lease is known to run, be it that of what is
/// there instead. Behind that it may be anything: its owner, who may live, cannot renew it.
void ServiceFeed::see_unreadable(Sighting const& sighting, Evidence const& evidence,
                                 FeedOutcome& outcome) {
    auto const found = instances_.find(sighting.id);
    if (found == instances_.end()) return;
    auto& known = found->second;
    known.missed = known.evicted = true;
    auto& lease_until = known.state.lease_until;
    if (sighting.state.lease_until) lease_until = sighting.state.lease_until;
    bool const runs = lease_until.value_or(Time::min()) > evidence.flight.asked_at;
    if (!known.grace_until && runs) return note_deadline(known, evidence.now);
    see_missing(found, sighting, evidence, outcome);
}

void ServiceFeed::see_missing(Instances::iterator known, Sighting const& sighting,
                              Evidence const& evidence, FeedOutcome& outcome) {
    auto const& id = known->first;
    auto const presence = sighting.presence;
    known->second.missed = true;
    // As of the question: its owner may have renewed while the answer was on its way. A list with
    // times in it knows of renewals that we do not.
    auto const asked_at = evidence.flight.asked_at;
    bool const goes_on = presence == Presence::hollow && sighting.state.lease_until.has_value();
    bool const lease_over =
        !goes_on && known->second.state.lease_until.value_or(Time::max()) <= asked_at;

    bool const listed = presence != Presence::absent && presence != Presence::unlisted;
    auto const news = evidence.flight.news.find(id);
    if (!listed && news != evidence.flight.news.end()) {
        if (news->second == News::deregistered) {
            return remove(known, RemovalReason::deregistered, outcome);
        }
        if (news->second == News::removed) {
            auto const reason = lease_over ? RemovalReason::expired : RemovalReason::deregistered;
            return remove(known, reason, outcome);
        }
        if (news->second == News::expired && !lease_over) known->second.evicted = true;
    }

    bool const asked_for = !evidence.flight.read.everything && evidence.flight.read.proof;
    bool const waits = known->second.grace_until && asked_at < *known->second.grace_until;
    if (!asked_for) {
        if (!waits) questionable_.insert(id);
        return;
    }
    if (news_.contains(id)) return;  // Newer than this answer, and read next.
    if (!evidence.undisturbed && !blind_) {
        questionable_.insert(id);
        return;
    }

    if (auto const reason = proven(known->second, presence, lease_over, evidence)) {
        if (presence == Presence::hollow) outcome.hollow.push_back(id);
        return remove(known, *reason, outcome);
    }
    if (presence == Presence::hollow && !lease_over) known->second.evicted = true;
    if (!known->second.grace_until) return suspect(known, evidence.now, outcome);
    if (!waits) remove(known, RemovalReason::lost, outcome);
}

std::optional<RemovalReason> ServiceFeed::proven(Known const& known, Presence presence,
                                                 bool lease_over, Evidence const& evidence) {
    auto const generation = evidence.answer.generation;
    if (!evidence.undisturbed || !generation || known.generation != generation) return {};
    if (presence == Presence::expired) return RemovalReason::expired;
    // What was evicted, or has become something else, may belong to somebody who lives.
    if (known.evicted || presence == Presence::unlisted) return {};
    if (lease_over) return RemovalReason::expired;
    if (presence == Presence::absent) return RemovalReason::absent_after_resync;
    return {};
}

void ServiceFeed::remove(Instances::iterator known, RemovalReason reason, FeedOutcome& outcome) {
    outcome.changes.push_back(
        {ChangeKind::removed, reason, known->first, known->second.instance, {}});
    questionable_.erase(known->first);
    instances_.erase(known);
}

void ServiceFeed::suspect(Instances::iterator known, Time now, FeedOutcome& outcome) {
    auto& state = known->second.state;
    state.suspect = true;
    known->second.grace_until = std::max(state.lease_until.value_or(now), now + options_.lease);
    note_deadline(known->second, now);
    outcome.changes.push_back(
        {ChangeKind::suspect, RemovalReason::none, known->first, known->second.instance, {}});
}

void ServiceFeed::plan_reconciliation(Time now) {
    auto const longest = options_.reconcile_every.count();
    std::uniform_int_distribution<milliseconds::rep> pause{longest - longest / 5, longest};
    reconcile_at_ = now + milliseconds{pause(random_)};
}

/// Has the descriptions of the next few read again.
void ServiceFeed::rotate() {
    auto const rounds = std::max<milliseconds::rep>(
        1, options_.reread_within / std::max(options_.reconcile_every, milliseconds{1}));
    auto const size = instances_.size();
    auto count = (size + static_cast<std::size_t>(rounds) - 1) / static_cast<std::size_t>(rounds);
    auto next = instances_.upper_bound(rotated_to_);
    for (; count > 0; --count) {
        if (next == instances_.end()) next = instances_.begin();
        news_.try_emplace(next->first, News::changed);
        rotated_to_ = next->first;
        ++next;
    }
}

void ServiceFeed::note_deadline(Known const& known, Time now) {
    if (auto const moment = moment_of(known)) {
        due_at_ = std::min(due_at_, std::max(*moment, now + question_pause));
    }
}

ServiceFeed::Time ServiceFeed::wake_at() const {
    if (flight_) return Time::max();
    auto next = due_at_;
    if (resync_ && connected_) next = std::min(next, doubted_ ? resync_not_before_ : Time::min());
    if (resync_ && !connected_) next = std::min(next, blind_at_);
    if (!news_.empty() || (may_question() && !questionable_.empty())) next = Time::min();
    if (live()) next = std::min(next, reconcile_at_);
    return std::max(next, retry_at_);
}

}  // namespace rollcall

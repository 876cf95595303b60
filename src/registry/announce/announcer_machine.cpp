#include "registry/announce/announcer_machine.hpp"

#include <algorithm>
#include <utility>

namespace rollcall {
namespace {

using std::chrono::milliseconds;

// Scripts of CoSky take what is in the last half second of its lease for gone.
constexpr milliseconds early_end{500};

milliseconds grown(milliseconds pause, AnnouncerTimes const& times) {
    return std::clamp(2 * pause, times.first_retry, times.last_retry);
}

bool is_absence(AnnouncementEvent event) {
    return event == AnnouncementEvent::lost || event == AnnouncementEvent::removed_by_other;
}

bool is_presence(AnnouncementEvent event) {
    return event == AnnouncementEvent::registered || event == AnnouncementEvent::persistent;
}

}  // namespace

AnnouncerMachine::AnnouncerMachine(AnnouncerTimes times, Time now)
    : times_(times), random_(times.seed), round_at_(now + times.period) {
    random_.discard(8);  // The first values of small seeds are small.
}

AnnouncerMachine::Key AnnouncerMachine::add(ServiceInstance instance, bool stay_out, Key after) {
    auto const key = ++last_key_;
    auto& entry = entries_[key];
    entry.instance = std::move(instance);
    entry.stay_out = stay_out;
    entry.after = after;
    if (entries_.contains(after)) followers_[after] = key;
    review(key, entry);
    return key;
}

AnnouncerMachine::Key AnnouncerMachine::adopt(ServiceInstance instance, Time now, Key after) {
    auto const key = add(std::move(instance), false, after);
    auto& entry = entries_.at(key);
    entry.adopted = true;
    review(key, entry);
    // Many that come one by one make no round each.
    round_at_ = std::min(round_at_, std::max(now, round_made_at_ + times_.reassert_within));
    return key;
}

void AnnouncerMachine::change(Key key, ServiceInstance instance) {
    auto const found = entries_.find(key);
    if (found == entries_.end() || found->second.leaving || found->second.adopted) return;
    found->second.instance = std::move(instance);
    ++found->second.wanted;
    found->second.retry_at = Time::min();
    review(key, found->second);
}

AnnouncerMachine::Notices AnnouncerMachine::release(Key key) {
    Notices notices;
    auto const found = entries_.find(key);
    if (found == entries_.end()) return notices;
    if (found->second.tried && !found->second.out && !found->second.adopted) {
        found->second.leaving = true;
        found->second.retry_at = Time::min();
        review(key, found->second);
    } else {
        // What is there under this id, if anything, is somebody else's.
        erase(key, notices);
    }
    return notices;
}

void AnnouncerMachine::hurry(Key key) {
    auto const found = entries_.find(key);
    if (found == entries_.end()) return;
    found->second.retry_at = Time::min();
    review(key, found->second);
}

void AnnouncerMachine::erase(Key key, Notices& notices) {
    auto const found = entries_.find(key);
    if (found->second.due) due_.erase({*found->second.due, key});
    if (found->second.in_rounds) --in_rounds_;
    entries_.erase(found);
    notices.push_back({key, AnnouncementEvent::released});
    auto const node = followers_.extract(key);
    if (node.empty()) return;
    auto const follower = entries_.find(node.mapped());
    if (follower != entries_.end()) review(follower->first, follower->second);
}

AnnouncerMachine::Notices AnnouncerMachine::mark(Key key, Drain const& drain, Time now) {
    Notices notices;
    auto const found = entries_.find(key);
    if (found == entries_.end()) return notices;
    auto& entry = found->second;
    if (entry.adopted || entry.leaving || entry.out) return notices;
    bool const wanted = drain.state == Drain::State::wanted;
    bool const may_be_stored = entry.written != 0 || entry.busy;
    bool const missed = drain.state == Drain::State::over && !entry.drained &&
                        drain.number != entry.drain && may_be_stored;
    if (!missed && wanted == entry.drained) {
        if (wanted) entry.drain = drain.number;
        return notices;
    }
    if (drain.state != Drain::State::none) entry.drain = drain.number;
    entry.drained = wanted;
    ++entry.wanted;
    if (missed && times_.deregisters_drained) {
        entry.written = 0;
        entry.missing_before = entry.wanted;
    }
    entry.retry_at = now;
    review(key, entry);
    if (wanted || missed) notices.push_back({key, AnnouncementEvent::drained});
    if (!wanted) notices.push_back({key, AnnouncementEvent::restored});
    return notices;
}

void AnnouncerMachine::mark_as_past(Key key, std::uint64_t number) {
    if (auto const found = entries_.find(key); found != entries_.end()) {
        found->second.drain = number;
    }
}

void AnnouncerMachine::connected(Time now) {
    std::uniform_int_distribution<milliseconds::rep> wait{0, times_.reassert_within.count() / 2};
    round_pause_ = milliseconds{0};
    round_at_ = std::min(round_at_, now + milliseconds{wait(random_)});
    for (auto& [key, entry] : entries_) {
        if (!wants(entry)) continue;
        entry.retry_at = Time::min();
        review(key, entry);
    }
}

void AnnouncerMachine::generation(std::optional<GenerationNumber> number, Time now) {
    if (number == generation_) return;
    bool const another = number && generation_;
    generation_ = number;
    if (another) connected(now);
}

/// To be called behind each change of an entry, and of whom it waits for: what is next is looked up
/// at every wake, which comes with each of ten thousand that end one after another.
void AnnouncerMachine::review(Key key, Entry& entry) {
    bool const calls = !entry.busy && wants(entry);
    auto const due = calls ? std::optional{entry.retry_at} : std::nullopt;
    if (due != entry.due) {
        if (entry.due) due_.erase({*entry.due, key});
        if (due) due_.emplace(*due, key);
        entry.due = due;
    }
    bool const in_rounds = beats(entry) || away(entry);
    if (in_rounds == entry.in_rounds) return;
    entry.in_rounds = in_rounds;
    in_rounds ? ++in_rounds_ : --in_rounds_;
}

bool AnnouncerMachine::beats(Entry const& entry) const {
    if (entry.adopted) return !entries_.contains(entry.after);
    return entry.written != 0 && !entry.leaving && !entry.out && !away(entry);
}

std::optional<AnnouncerMachine::Call::Kind> AnnouncerMachine::wants(Entry const& entry) const {
    if (entry.adopted) return std::nullopt;
    if (entry.leaving) return Call::Kind::deregister;
    if (entry.out || entries_.contains(entry.after)) return std::nullopt;
    if (away(entry)) {
        return entry.tried ? std::optional{Call::Kind::deregister} : std::nullopt;
    }
    if (entry.written == 0) return Call::Kind::register_instance;
    if (entry.written != entry.wanted || entry.perhaps_older) return Call::Kind::update;
    return std::nullopt;
}

AnnouncerMachine::Call AnnouncerMachine::begin(Call::Kind kind, std::vector<Key> keys, Time now) {
    Flight flight;
    flight.call.kind = kind;
    flight.call.number = ++last_call_;
    flight.call.keys = std::move(keys);
    flight.made_at = now;
    flight.generation = generation_;
    for (auto const key : flight.call.keys) {
        auto& entry = entries_.at(key);
        flight.revision = entry.wanted;
        flight.call.again = kind == Call::Kind::update && entry.perhaps_older;
        flight.tried_before = entry.tried;
        if (kind == Call::Kind::deregister) continue;
        entry.tried = true;
        entry.tried_at = now;
    }
    return flights_.emplace(last_call_, std::move(flight)).first->second.call;
}

std::vector<AnnouncerMachine::Call> AnnouncerMachine::next_calls(Time now) {
    std::vector<Call> calls;
    while (!due_.empty() && due_.begin()->first <= now) {
        auto const key = due_.begin()->second;
        auto& entry = entries_.at(key);
        auto const kind = *wants(entry);
        entry.busy = true;
        calls.push_back(begin(kind, {key}, now));
        review(key, entry);
    }
    if (!round_on_its_way_ && round_at_ <= now) {
        std::vector<Key> keys;
        bool any_away = false;
        for (auto const& [key, entry] : entries_) {
            if (beats(entry)) keys.push_back(key);
            any_away = any_away || away(entry);
        }
        std::uniform_int_distribution<milliseconds::rep> early{0, times_.period.count() / 10};
        round_at_ = now + times_.period - milliseconds{early(random_)};
        if (!keys.empty() || any_away) {
            round_on_its_way_ = true;
            round_made_at_ = now;
            calls.push_back(begin(Call::Kind::heartbeat, std::move(keys), now));
        }
    }
    return calls;
}

AnnouncerMachine::Time AnnouncerMachine::wake_at() const {
    auto next = due_.empty() ? Time::max() : due_.begin()->first;
    if (in_rounds_ > 0 && !round_on_its_way_) next = std::min(next, round_at_);
    return next;
}

void AnnouncerMachine::retry(Entry& entry, Time now) {
    entry.pause = grown(entry.pause, times_);
    entry.retry_at = now + entry.pause;
}

/// That of the data in which the call was carried out; none: it may have changed meanwhile.
std::optional<GenerationNumber> AnnouncerMachine::generation_during(Flight const& flight) const {
    if (flight.generation == generation_) return generation_;
    // A round has more than one question: what came to be known meanwhile may be of later data.
    bool const in_one_step = flight.call.kind == Call::Kind::register_instance;
    return in_one_step && !flight.generation ? generation_ : std::nullopt;
}

void AnnouncerMachine::succeed(Entry& entry) {
    entry.pause = milliseconds{0};
    entry.told_refused = false;
}

void AnnouncerMachine::renewed(Entry& entry, Flight const& flight) {
    entry.acknowledged_at = std::max(entry.acknowledged_at, flight.made_at);
    entry.generation = generation_during(flight);
    succeed(entry);
}

void AnnouncerMachine::written(Entry& entry, Flight const& flight) {
    // An update leaves the lease as it is.
    if (flight.call.kind == Call::Kind::register_instance) {
        renewed(entry, flight);
        entry.trouble.reset();
    }
    succeed(entry);
    entry.written = flight.revision < entry.missing_before ? 0 : flight.revision;
    if (flight.call.again || flight.call.kind == Call::Kind::register_instance) {
        entry.perhaps_older = false;
    }
    entry.described_in = flight.generation ? flight.generation : generation_;
}

bool AnnouncerMachine::cannot_have_lapsed(Entry const& entry, Time now) const {
    return entry.generation && entry.generation == generation_ &&
           now < entry.acknowledged_at + times_.lease - early_end;
}

void AnnouncerMachine::beat(Key key, Entry& entry, Beat beat, Flight const& flight, Time now,
                            Notices& notices) {
    // A registration of which the round could not know says more than the round.
    bool const outdated = entry.acknowledged_at > flight.made_at;
    if (outdated || !beats(entry)) return;
    if (beat == Beat::failed || beat == Beat::refused) {
        return fail_to_renew(key, entry, beat == Beat::refused, now, notices);
    }
    if (beat == Beat::alive || beat == Beat::persistent) {
        renewed(entry, flight);
        if (std::exchange(entry.trouble, std::nullopt)) {
            notices.push_back({key, AnnouncementEvent::registered});
        }
        if (!entry.adopted) return describe_again(key, entry);
        return tell_adopted(
            key, entry,
            beat == Beat::alive ? AnnouncementEvent::registered : AnnouncementEvent::persistent,
            notices);
    }
    miss(key, entry, beat == Beat::gone && cannot_have_lapsed(entry, now), notices);
}

/// Told once until it is renewed: the lease runs out, or has done so.
void AnnouncerMachine::fail_to_renew(Key key, Entry& entry, bool refused, Time now,
                                     Notices& notices) {
    bool const had_a_lease = entry.instance.ephemeral && entry.acknowledged_at != Time{};
    bool const over = had_a_lease && now >= entry.acknowledged_at + times_.lease;
    if (!refused && !over) return;
    auto const event = over ? AnnouncementEvent::lost : AnnouncementEvent::refused;
    if (entry.adopted) return tell_adopted(key, entry, event, notices);
    if (entry.trouble == event || entry.trouble == AnnouncementEvent::lost) return;
    entry.trouble = event;
    notices.push_back({key, event});
}

/// Other data may be an older copy, in which it is as it was before it was changed.
void AnnouncerMachine::describe_again(Key key, Entry& entry) {
    if (!entry.described_in) entry.described_in = entry.generation;
    bool const changed = entry.wanted > 1;
    if (!changed || !entry.generation || entry.described_in == entry.generation) return;
    entry.perhaps_older = true;
    review(key, entry);
}

void AnnouncerMachine::miss(Key key, Entry& entry, bool removed, Notices& notices) {
    auto const event = removed ? AnnouncementEvent::removed_by_other : AnnouncementEvent::lost;
    if (entry.adopted) return tell_adopted(key, entry, event, notices);
    entry.written = 0;
    entry.retry_at = Time::min();
    entry.out = removed && entry.stay_out;
    review(key, entry);
    bool const known = std::exchange(entry.trouble, std::nullopt) == event;
    if (!known) notices.push_back({key, event});
}

/// Once until it changes: one that is gone is found so by each round.
void AnnouncerMachine::tell_adopted(Key key, Entry& entry, AnnouncementEvent event,
                                    Notices& notices) {
    auto const& told = entry.told;
    if (told == event || (told && is_absence(*told) && is_absence(event))) return;
    entry.told = event;
    notices.push_back({key, event});
}

AnnouncerMachine::Notices AnnouncerMachine::answer_round(std::uint64_t number,
                                                         std::vector<Beat> const& beats, Time now) {
    Notices notices;
    auto const node = flights_.extract(number);
    if (node.empty()) return notices;
    round_on_its_way_ = false;
    auto const& flight = node.mapped();
    bool any = flight.call.keys.empty();
    for (std::size_t i = 0; i < flight.call.keys.size() && i < beats.size(); ++i) {
        any = any || (beats[i] != Beat::failed && beats[i] != Beat::refused);
        auto const found = entries_.find(flight.call.keys[i]);
        if (found == entries_.end()) continue;
        beat(found->first, found->second, beats[i], flight, now, notices);
    }
    if (any) {
        round_pause_ = milliseconds{0};
    } else {
        // Nobody was renewed: soon again, as the leases run.
        round_pause_ = grown(round_pause_, times_);
        round_at_ = std::min(round_at_, now + round_pause_);
    }
    return notices;
}

void AnnouncerMachine::deregistered(Key key, Entry& entry, Notices& notices) {
    if (entry.leaving) return erase(key, notices);
    entry.written = 0;
    entry.tried = false;
    succeed(entry);
}

/// A deregistration that failed is over when the lease has ended what it was about.
bool AnnouncerMachine::has_ended(Entry const& entry, Time now) const {
    return entry.leaving && entry.instance.ephemeral && now >= entry.tried_at + times_.lease;
}

AnnouncerMachine::Notices AnnouncerMachine::answer_call(std::uint64_t number, Result result,
                                                        Time now) {
    Notices notices;
    auto const node = flights_.extract(number);
    if (node.empty()) return notices;
    auto const& flight = node.mapped();
    auto const kind = flight.call.kind;
    auto const key = flight.call.keys.front();
    auto const found = entries_.find(key);
    if (found == entries_.end()) return notices;
    auto& entry = found->second;
    entry.busy = false;
    switch (result) {
        case Result::done:
            if (kind == Call::Kind::deregister) {
                deregistered(key, entry, notices);
                break;
            }
            // A round may have found meanwhile that there is nothing any more to be updated.
            if (kind == Call::Kind::update && entry.written == 0) break;
            written(entry, flight);
            if (kind == Call::Kind::register_instance) {
                notices.push_back({key, AnnouncementEvent::registered});
            }
            break;
        case Result::gone:
            if (beats(entry)) miss(key, entry, cannot_have_lapsed(entry, now), notices);
            break;
        case Result::refused:
            if (kind == Call::Kind::deregister) entry.written = 0;
            entry.pause = times_.last_retry;
            retry(entry, now);
            if (!std::exchange(entry.told_refused, true)) {
                notices.push_back({key, AnnouncementEvent::refused});
            }
            break;
        case Result::transient:
            // It may have been carried out, and nobody else be to blame for that.
            if (kind == Call::Kind::deregister) entry.written = 0;
            retry(entry, now);
            break;
        case Result::withdrawn:
            entry.tried = flight.tried_before;
            entry.retry_at = now;
            break;
    }
    if (!entries_.contains(key)) return notices;
    if (kind == Call::Kind::deregister && has_ended(entry, now)) {
        erase(key, notices);
        return notices;
    }
    // What it wants now may be another call than the one that failed.
    if (wants(entry) != kind) entry.retry_at = Time::min();
    review(key, entry);
    return notices;
}

ServiceInstance const* AnnouncerMachine::find(Key key) const {
    auto const found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second.instance;
}

std::optional<ServiceInstance> AnnouncerMachine::to_store(Key key) const {
    auto const found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    auto const& entry = found->second;
    if (entry.adopted || entry.leaving || entry.out || away(entry)) return std::nullopt;
    auto instance = entry.instance;
    if (entry.drained) instance.enabled = false;
    return instance;
}

bool AnnouncerMachine::registered(Key key) const {
    auto const found = entries_.find(key);
    if (found == entries_.end()) return false;
    auto const& entry = found->second;
    if (entry.adopted) return entry.told && is_presence(*entry.told);
    return beats(entry) && !entry.trouble;
}

bool AnnouncerMachine::settled(Key key) const {
    auto const found = entries_.find(key);
    return found == entries_.end() || !wants(found->second);
}

std::vector<AnnouncerMachine::Key> AnnouncerMachine::announced() const {
    std::vector<Key> keys;
    for (auto const& [key, entry] : entries_) {
        if (!entry.adopted && !entry.leaving && !entry.out) keys.push_back(key);
    }
    return keys;
}

}  // namespace rollcall

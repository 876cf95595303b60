#include "model/fleet/announcing.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rollcall::test::fleet {
namespace {

constexpr milliseconds before_next_try{200};
// By what the broken one is late.
constexpr seconds late{5};
// No clock stands still.
constexpr microseconds a_moment{1};

AnnouncerTimes times_of(Layout layout, std::uint32_t seed) {
    AnnouncerTimes times;
    times.period = heartbeat;
    times.lease = lease_of(layout);
    times.deregisters_drained = layout == Layout::cosky;
    times.seed = seed;
    return times;
}

}  // namespace

Announcing::Announcing(World& world, std::size_t number, std::uint64_t incarnation)
    : Process(world, number, incarnation),
      machine_(times_of(world.scene.layout, seed()), world.timeline.now()),
      commands_(add_line()),
      pushes_(add_line(Line::Unanswered::failed)),
      // Descriptions of one process are newer than those of the one before.
      versions_(static_cast<int>(incarnation) * 1'000) {}

void Announcing::start() {
    commands_.start();
    pushes_.start();
    on_doubt();
}

Announcing::Entry* Announcing::find(Key key) {
    auto const found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
}

Announcing::Entry* Announcing::wanted(std::size_t member) {
    auto* const entry = find(latest(member));
    return entry && !entry->leaving ? entry : nullptr;
}

AnnouncerMachine::Key Announcing::latest(std::size_t member) const {
    auto const found = latest_.find(member);
    return found == latest_.end() ? 0 : found->second;
}

void Announcing::announce(std::size_t service) {
    auto const of = member(service);
    if (wanted(of)) return;
    Entry entry;
    entry.member = of;
    entry.after = latest(of);
    entry.version = ++versions_;
    entry.stay_out = entry.version % 4 == 0;
    auto const key =
        machine_.add(described(world_.members[of], entry.version), entry.stay_out, entry.after);
    // Of the one before nothing more is judged, once there is another one.
    world_.truth.wanted(of, entry.version, entry.stay_out);
    entries_[key] = entry;
    latest_[of] = key;
    wake();
}

void Announcing::release(std::size_t service) {
    auto const of = member(service);
    auto* const entry = wanted(of);
    if (!entry) return;
    entry->leaving = true;
    world_.truth.leaving(of);
    tell(machine_.release(latest(of)));
    wake();
}

void Announcing::describe(std::size_t service) {
    auto const of = member(service);
    auto* const entry = wanted(of);
    if (!entry) return;
    entry->version = ++versions_;
    world_.truth.wanted(of, entry->version, entry->stay_out);
    machine_.change(latest(of), described(world_.members[of], entry->version));
    wake();
}

void Announcing::wake() {
    if (std::exchange(woken_, true)) return;
    world_.timeline.after(a_moment, [this] {
        woken_ = false;
        turn();
    });
}

void Announcing::turn() {
    if (!alive()) return;
    begin(machine_.next_calls(now()));
    plan();
}

void Announcing::plan() {
    auto const at = machine_.wake_at();
    if (at == planned_ && at > now()) return;
    planned_ = at;
    if (at == Time::max()) return;
    world_.timeline.at(at, [this, at] {
        if (alive() && planned_ == at) {
            planned_ = Time::max();
            turn();
        }
    });
}

void Announcing::on_up(Line& line) {
    if (&line == &pushes_) return track();
    world_.note(name() + " is connected");
    if (!broken(Defect::no_reassertion)) machine_.connected(now());
    on_doubt();
    wake();
}

/// Before anybody is told of a change, so that the next one does not go unnoticed.
void Announcing::track() {
    pushes_.ask([this] { pushes_.track(); },
                [this](bool answered) {
                    if (answered && alive()) on_doubt();
                });
}

void Announcing::on_push(Line&, Push const& push) {
    if (push.kind == Push::Kind::invalidation) track();
}

void Announcing::on_doubt() {
    ++doubts_;
    if (!std::exchange(keeping_, true)) keep_epoch();
}

void Announcing::keep_epoch() {
    assert_epoch([this, seen = doubts_](bool found, std::optional<GenerationNumber> number) {
        if (found) {
            tell_generation(number);
            wake();
        }
        if (seen != doubts_) return keep_epoch();
        if (found || !commands_.up()) {
            keeping_ = false;
            return;
        }
        world_.timeline.after(before_next_try, [this] {
            if (alive()) keep_epoch();
        });
    });
}

void Announcing::assert_epoch(std::function<void(bool, std::optional<GenerationNumber>)> then) {
    auto const seen = std::make_shared<Lifetime>();
    commands_.ask(
        [this, seen] {
            world_.redis.set_epoch_if_none();
            *seen = world_.redis.lifetime();
        },
        [this, seen, then = std::move(then)](bool answered) {
            if (!alive()) return;
            then(answered, answered ? generations_.number_of(*seen) : std::nullopt);
        });
}

void Announcing::tell_generation(std::optional<GenerationNumber> number) {
    if (broken(Defect::no_reassertion)) number.reset();
    if (broken(Defect::any_generation)) number = 1;
    machine_.generation(number, now());
}

void Announcing::find_generation(Done then) {
    assert_epoch(
        [this, then = std::move(then)](bool found, std::optional<GenerationNumber> number) {
            tell_generation(found ? number : std::nullopt);
            if (!found) on_doubt();
            then();
        });
}

void Announcing::begin(std::vector<Call> calls) {
    std::vector<Call> registrations;
    for (auto& call : calls) {
        if (call.kind == Call::Kind::heartbeat) {
            round(std::move(call));
        } else if (call.kind == Call::Kind::register_instance) {
            registrations.push_back(std::move(call));
        } else {
            carry_out(call);
        }
    }
    if (registrations.empty()) return;
    Keys keys;
    for (auto const& call : registrations) keys.push_back(call.keys.front());
    read_marks(std::move(keys), true, [this, registrations](bool) {
        for (auto const& call : registrations) carry_out(call);
    });
}

void Announcing::read_marks(Keys keys, bool before_registration, Known then) {
    std::vector<std::pair<Key, std::size_t>> asked;
    for (auto const key : keys) {
        if (auto const* const entry = find(key)) asked.emplace_back(key, entry->member);
    }
    if (asked.empty()) return then(true);
    auto const drains = std::make_shared<std::vector<Drain>>();
    commands_.ask(
        [this, asked, drains] {
            for (auto const& [key, of] : asked) drains->push_back(world_.redis.drain(of));
        },
        [this, asked, drains, before_registration, then = std::move(then)](bool answered) {
            if (!alive()) return;
            for (std::size_t i = 0; answered && i < asked.size(); ++i) {
                note_mark(asked[i].first, (*drains)[i], before_registration);
            }
            wake();
            then(answered);
        });
}

void Announcing::note_mark(Key key, Drain const& drain, bool before_registration) {
    bool const over = drain.state == Drain::State::over;
    if (over && before_registration) machine_.mark_as_past(key, drain.number);
    tell(machine_.mark(key, drain, now()));
}

void Announcing::carry_out(Call const& call) {
    switch (call.kind) {
        case Call::Kind::register_instance:
            return register_instance(call);
        case Call::Kind::update:
            return update(call);
        default:
            return deregister(call);
    }
}

void Announcing::register_instance(Call const& call) {
    auto const key = call.keys.front();
    auto const instance = machine_.to_store(key);
    if (!instance) return answer(call, Machine::Result::withdrawn);
    auto const of = entries_.at(key).member;
    commands_.ask(
        [this, of, instance = *instance] {
            world_.redis.act([&](Contents& contents) { contents.register_instance(instance); });
            if (world_.tracing) {
                world_.note("Redis registers " + world_.truth.name(of) + " for " + name());
            }
            world_.truth.stored(of, false);
        },
        [this, call, of, instance = *instance](bool answered) {
            if (!alive()) return;
            if (!answered && broken(Defect::late_answer)) {
                world_.timeline.after(late, [this, of, instance] {
                    if (alive()) register_again(of, instance);
                });
            }
            bool const wanted = machine_.to_store(call.keys.front()).has_value();
            if (answered && wanted) world_.truth.acknowledged(of);
            answer(call, answered ? Machine::Result::done : Machine::Result::transient);
        });
}

/// Whatever became of it.
void Announcing::register_again(std::size_t of, ServiceInstance const& instance) {
    commands_.ask(
        [this, of, instance] {
            world_.redis.act([&](Contents& contents) { contents.register_instance(instance); });
            world_.truth.stored(of, false);
        },
        [this, of, instance](bool answered) {
            if (!answered && alive()) register_again(of, instance);
        });
}

void Announcing::update(Call const& call) {
    auto const key = call.keys.front();
    auto const instance = machine_.to_store(key);
    if (!instance) return answer(call, Machine::Result::withdrawn);
    auto const existed = std::make_shared<bool>(false);
    commands_.ask(
        [this, instance = *instance, existed] {
            *existed =
                world_.redis.act([&](Contents& contents) { return contents.describe(instance); });
        },
        [this, call, instance = *instance, existed](bool answered) {
            if (!alive()) return;
            if (!answered) return answer(call, Machine::Result::transient);
            if (!*existed) {
                return judge_update(call);
            }
            commands_.ask(
                [this, instance] {
                    world_.redis.act(
                        [&](Contents& contents) { contents.announce_change(instance); });
                },
                [this, call](bool) {
                    if (alive()) answer(call, Machine::Result::done);
                });
        });
}

void Announcing::judge_update(Call const& call) {
    read_marks(call.keys, false, [this, call](bool known) {
        if (!known) return answer(call, Machine::Result::transient);
        find_generation([this, call] { answer(call, Machine::Result::gone); });
    });
}

void Announcing::deregister(Call const& call) {
    auto const* const entry = find(call.keys.front());
    if (!entry) return answer(call, Machine::Result::done);
    auto const of = entry->member;
    commands_.ask(
        [this, of] {
            auto const& instance = world_.members[of].instance;
            world_.redis.act([&](Contents& contents) { contents.deregister(instance); });
            if (world_.tracing) {
                world_.note("Redis deregisters " + instance.instance_id + " for " + name());
            }
            world_.truth.removed_by_owner(of);
        },
        [this, call](bool answered) {
            if (!alive()) return;
            answer(call, answered ? Machine::Result::done : Machine::Result::transient);
        });
}

void Announcing::answer(Call const& call, Machine::Result result) {
    tell(machine_.answer_call(call.number, result, now()));
    wake();
}

void Announcing::round(Call call) {
    auto const round = std::make_shared<Round>();
    round->beats.assign(call.keys.size(), Machine::Beat::failed);
    round->call = std::move(call);
    std::vector<std::size_t> asked;
    for (auto const key : round->call.keys) asked.push_back(entries_.at(key).member);
    auto const seen = std::make_shared<std::vector<Machine::Beat>>();
    commands_.ask(
        [this, asked, seen] {
            world_.redis.act([&](Contents& contents) {
                for (auto const of : asked) {
                    auto const beat = contents.heartbeat(world_.members[of].instance);
                    seen->push_back(beat == Contents::Beat::alive ? Machine::Beat::alive
                                                                  : Machine::Beat::gone);
                }
            });
            for (auto const of : asked) world_.truth.refresh(of);
        },
        [this, round, seen](bool answered) {
            if (!alive()) return;
            if (answered) round->beats = *seen;
            find_unlisted(round, [this, round] {
                read_marks(machine_.announced(), false, [this, round](bool known) {
                    if (!known) {
                        std::ranges::replace(round->beats, Machine::Beat::gone,
                                             Machine::Beat::failed);
                    }
                    bool const gone = std::count(round->beats.begin(), round->beats.end(),
                                                 Machine::Beat::gone) > 0;
                    if (!gone) return end_round(round);
                    find_generation([this, round] { end_round(round); });
                });
            });
        });
}

/// A heartbeat of the other layout sees to that itself.
void Announcing::find_unlisted(RoundPtr const& round, Done then) {
    if (world_.scene.layout == Layout::cosky || round->call.keys.empty()) return then();
    std::set<std::size_t> services;
    for (auto const key : round->call.keys) {
        if (auto const* const entry = find(key)) {
            services.insert(world_.members[entry->member].service);
        }
    }
    auto const missing = std::make_shared<std::set<std::size_t>>();
    commands_.ask(
        [this, services, missing] {
            for (auto const service : services) {
                if (!world_.redis.contents().lists(service_name(service))) {
                    missing->insert(service);
                }
            }
        },
        [this, round, missing, then = std::move(then)](bool answered) {
            if (!alive()) return;
            for (std::size_t i = 0; answered && i < round->beats.size(); ++i) {
                auto const* const entry = find(round->call.keys[i]);
                if (!entry || round->beats[i] != Machine::Beat::alive) continue;
                if (missing->contains(world_.members[entry->member].service)) {
                    round->beats[i] = Machine::Beat::unlisted;
                }
            }
            then();
        });
}

void Announcing::end_round(RoundPtr const& round) {
    tell(machine_.answer_round(round->call.number, round->beats, now()));
    wake();
}

void Announcing::tell(Machine::Notices const& notices) {
    for (auto const& notice : notices) tell(notice.key, notice.event);
}

void Announcing::tell(Key key, AnnouncementEvent event) {
    auto const* const entry = find(key);
    if (!entry) return;
    auto const of = entry->member;
    bool const current = latest(of) == key;
    auto& truth = world_.truth;
    auto const note = [&](std::string_view what) {
        if (world_.tracing)
            world_.note(name() + " is told: " + truth.name(of) + ' ' + std::string{what});
    };
    switch (event) {
        case AnnouncementEvent::lost:
            note("lost");
            if (current) truth.told_lost(of);
            break;
        case AnnouncementEvent::removed_by_other:
            note("removed by other");
            if (current) truth.told_removed(of);
            break;
        case AnnouncementEvent::drained:
        case AnnouncementEvent::restored:
            note(event == AnnouncementEvent::drained ? "drained" : "restored");
            if (current && world_.scene.layout == Layout::cosky) {
                truth.drained(of, event == AnnouncementEvent::drained);
            }
            break;
        case AnnouncementEvent::released:
            note("released");
            if (current) truth.released(of);
            if (current) latest_.erase(of);
            if (broken(Defect::registers_released)) {
                register_again(of, described(world_.members[of], entry->version));
            }
            entries_.erase(key);
            break;
        default:
            break;
    }
}

}  // namespace rollcall::test::fleet

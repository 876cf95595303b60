#include "model/fleet/watching.hpp"

#include <algorithm>
#include <utility>

#include "registry/live/table_draft.hpp"
#include "registry/live/vitals.hpp"

namespace rollcall::test::fleet {
namespace {

// No clock stands still.
constexpr microseconds a_moment{1};

FeedOptions options_of(Layout layout, std::uint32_t seed) {
    FeedOptions options;
    options.lease = lease_of(layout);
    options.seed = seed;
    return options;
}

}  // namespace

Watching::Watching(World& world, std::size_t number, std::size_t reader)
    : Process(world, number, 0),
      reader_(reader),
      commands_(add_line()),
      pushes_(add_line(Line::Unanswered::failed)) {
    for (std::size_t i = 0; i < world.scene.services; ++i) {
        auto const options = options_of(world.scene.layout, seed() + static_cast<std::uint32_t>(i));
        services_.push_back(
            std::make_unique<Watched>(service_name(i), options, world.timeline.now()));
    }
}

void Watching::start() {
    commands_.start();
    pushes_.start();
    for (auto const& service : services_) wake(*service);
}

Watching::Watched* Watching::find(std::string const& service) {
    auto const found = std::find_if(services_.begin(), services_.end(),
                                    [&](auto const& one) { return one->name == service; });
    return found == services_.end() ? nullptr : found->get();
}

void Watching::on_up(Line& line) {
    if (&line != &pushes_) return;
    track([this] { subscribe(); });
}

void Watching::track(Done then) {
    pushes_.ask([this] { pushes_.track(); },
                [then = std::move(then)](bool answered) {
                    if (answered) then();
                });
}

void Watching::subscribe() {
    std::vector<std::string> names;
    for (auto const& service : services_) names.push_back(service->name);
    pushes_.ask([this, names] { pushes_.listen(names); },
                [this](bool answered) {
                    if (!answered) return;
                    for (auto const& service : services_) {
                        service->feed.confirmed(now());
                        wake(*service);
                    }
                });
}

void Watching::on_down(Line& line) {
    if (&line != &pushes_) return;
    for (auto const& service : services_) {
        service->feed.lost(now());
        wake(*service);
    }
}

void Watching::on_push(Line&, Push const& push) {
    if (push.kind == Push::Kind::invalidation) {
        track([this] {
            for (auto const& service : services_) {
                service->feed.doubt(now());
                wake(*service);
            }
        });
        return;
    }
    auto* const service = find(push.service);
    if (!service) return;
    if (push.kind == Push::Kind::garbage) {
        service->doubtful = true;
    } else {
        service->feed.message(push.id, push.news, now());
    }
    wake(*service);
}

void Watching::wake(Watched& service) {
    if (service.reading || std::exchange(service.woken, true)) return;
    world_.timeline.after(a_moment, [this, &service] {
        service.woken = false;
        turn(service);
    });
}

void Watching::turn(Watched& service) {
    if (service.reading) return;
    pass_doubt_on(service);
    if (auto read = service.feed.next_read(now())) return begin(service, *std::move(read));
    plan(service);
}

void Watching::plan(Watched& service) {
    auto at = service.feed.wake_at();
    if (service.doubtful) at = std::min(at, service.doubt_not_before);
    if (at == service.planned && at > now()) return;
    service.planned = at;
    if (at == Time::max()) return;
    world_.timeline.at(at, [this, &service, at] {
        if (service.planned != at) return;
        service.planned = Time::max();
        turn(service);
    });
}

void Watching::pass_doubt_on(Watched& service) {
    if (!service.doubtful || now() < service.doubt_not_before) return;
    service.doubtful = false;
    service.doubt_not_before = now() + FeedOptions{}.doubt_pause;
    service.feed.doubt(now());
}

void Watching::begin(Watched& service, FeedRead read) {
    service.reading = true;
    auto const reading = std::make_shared<Reading>();
    reading->service = &service;
    reading->answer.number = read.number;
    reading->read = std::move(read);
    if (reading->read.proof) return ask_before(reading);
    look(reading);
}

void Watching::ask(ReadingPtr const& reading, Done carry_out, Done then) {
    commands_.ask(std::move(carry_out), [this, reading, then = std::move(then)](bool answered) {
        if (!answered) return finish(reading, false);
        then();
    });
}

void Watching::ask_before(ReadingPtr const& reading) {
    ask(
        reading,
        [this, reading] {
            reading->before = world_.redis.lifetime();
            reading->connection = commands_.connection();
        },
        [this, reading] { look(reading); });
}

void Watching::look(ReadingPtr const& reading) {
    reading->asked_at = now();
    if (reading->read.everything) return look_at_all(reading);
    ask(
        reading,
        [this, reading] {
            auto const& contents = world_.redis.contents();
            reading->answer.sightings.clear();
            for (auto const& id : reading->read.ids) {
                see(*reading,
                    contents.look(reading->service->name, id, reading->read.descriptions));
            }
        },
        [this, reading] { ask_after(reading); });
}

void Watching::look_at_all(ReadingPtr const& reading) {
    bool const in_one = world_.scene.layout == Layout::streaming && !reading->read.descriptions;
    ask(
        reading,
        [this, reading, in_one] {
            auto const& contents = world_.redis.contents();
            auto const& name = reading->service->name;
            reading->members = contents.list(name);
            reading->answer.sightings.clear();
            for (auto const& one : reading->members) {
                if (in_one) see(*reading, contents.look(name, one, false));
            }
        },
        [this, reading, in_one] {
            if (in_one) return ask_after(reading);
            look_at_members(reading);
        });
}

void Watching::look_at_members(ReadingPtr const& reading) {
    if (world_.scene.layout == Layout::cosky) reading->asked_at = now();
    ask(
        reading,
        [this, reading] {
            auto const& contents = world_.redis.contents();
            reading->answer.sightings.clear();
            for (auto const& one : reading->members) {
                see(*reading,
                    contents.look(reading->service->name, one, reading->read.descriptions));
            }
        },
        [this, reading] { ask_after(reading); });
}

/// On the clock of the reader a lease ends sooner: what was left of it counts from the question.
void Watching::see(Reading& reading, Sighting sighting) const {
    if (auto& until = sighting.state.lease_until) {
        auto const clock = world_.redis.contents().moment(world_.redis.clock());
        until = reading.asked_at + (*until - clock);
    }
    reading.answer.sightings.push_back(std::move(sighting));
}

void Watching::ask_after(ReadingPtr const& reading) {
    if (!reading->read.proof) return finish(reading, true);
    auto const after = std::make_shared<Lifetime>();
    auto const connection = std::make_shared<std::uint64_t>(0);
    ask(
        reading,
        [this, after, connection] {
            *after = world_.redis.lifetime();
            *connection = commands_.connection();
        },
        [this, reading, after, connection] {
            if (reading->before == *after && reading->connection == *connection) {
                reading->answer.generation = generations_.number_of(*after);
            }
            ping(reading);
        });
}

void Watching::ping(ReadingPtr const& reading) {
    if (!pushes_.up()) return finish(reading, true);
    auto const connection = pushes_.connection();
    pushes_.ask([] {},
                [this, reading, connection](bool answered) {
                    reading->answer.path_clean = answered && connection == pushes_.connection();
                    finish(reading, true);
                });
}

void Watching::finish(ReadingPtr const& reading, bool complete) {
    auto& service = *reading->service;
    reading->answer.complete = complete;
    auto const outcome = service.feed.answer(std::move(reading->answer), now());
    publish(service, outcome);
    judge(service, outcome);
    if (outcome.hollow.empty()) {
        service.reading = false;
        return turn(service);
    }
    commands_.ask(
        [this, name = service.name, ids = outcome.hollow] {
            world_.redis.act([&](Contents& contents) { contents.clean_up(name, ids); });
            world_.truth.swept();
        },
        [this, &service](bool) {
            service.reading = false;
            turn(service);
        });
}

void Watching::publish(Watched& service, FeedOutcome const& outcome) {
    auto const& known = service.feed.instances();
    for (auto const& id : outcome.renewed) {
        auto const* const record = service.table->find(id);
        auto const found = known.find(id);
        if (record && found != known.end()) record->vitals->set(found->second.state);
    }
    if (outcome.changes.empty()) return;
    live::TableDraft draft{*service.table};
    for (auto const& change : outcome.changes) {
        auto const found = known.find(change.id);
        if (found == known.end()) {
            draft.erase(change.id);
            continue;
        }
        auto const* const before = draft.find(change.id);
        auto const vitals = before ? before->vitals : std::make_shared<live::Vitals>();
        vitals->set(found->second.state);
        draft.put(live::make_record(found->second.instance, vitals));
    }
    service.table = std::move(draft).finish();
}

/// What users see must be what the feed believes, each once.
void Watching::judge(Watched& service, FeedOutcome const& outcome) {
    auto const number = static_cast<std::size_t>(std::stoi(service.name.substr(1)));
    auto const& known = service.feed.instances();
    if (service.table->size != known.size()) {
        world_.truth.fail(service.name + ": a snapshot shows others than the feed believes in");
    }
    for (auto const& change : outcome.changes) {
        auto const owner = static_cast<std::size_t>(change.instance->port - first_port);
        auto const of = world_.member(owner, number);
        if (world_.tracing) {
            world_.note("reader " + std::to_string(reader_) + " of " + change.id + ": " +
                        std::string{to_string(change.kind)} + ' ' +
                        std::string{to_string(change.reason)});
        }
        auto const* const record = service.table->find(change.id);
        if (record) {
            world_.truth.shows(reader_, of, record->vitals->suspect, version_of(*record->instance));
        } else {
            world_.truth.shows_not(reader_, of);
        }
    }
}

}  // namespace rollcall::test::fleet

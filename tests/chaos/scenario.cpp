#include "chaos/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rollcall::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds between_samples{50};
constexpr int samples_for_a_look_at_leases = 4;

/// A restart finds all that was acknowledged before.
std::vector<std::string> durable() { return {"appendonly yes", "appendfsync always", "save \"\""}; }

Time time_of(long long nanoseconds) {
    return Time{std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds{nanoseconds})};
}

}  // namespace

Scenario::Scenario(ScenarioOptions const& options)
    : options_(options),
      random_(options.seed),
      changing_(options.seed + 1),
      server_(durable()),
      truth_(options.fleet.lease),
      started_(Clock::now()) {}

Scenario::~Scenario() = default;

int Scenario::any(Random& random, int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
}

Scenario::Member& Scenario::any_member(Random& random) {
    return *members_[static_cast<std::size_t>(any(random, static_cast<int>(members_.size())))];
}

std::string Scenario::id_at(Member const& member, int service) const {
    auto const& place = member.places[static_cast<std::size_t>(service)];
    return id_of(options_.fleet, service_name(service), place.number);
}

void Scenario::note(std::string const& what) {
    if (!options_.verbose) return;
    std::fprintf(stderr, "%7.2f  %s\n", Seconds{Clock::now() - started_}.count(), what.c_str());
}

void Scenario::note_growth(Seconds& noted, Seconds figure, std::string const& what,
                           std::size_t reader) {
    if (figure < noted + Seconds{0.3}) return;
    noted = figure;
    note(what + " for " + std::to_string(figure.count()) + " s at reader " +
         std::to_string(reader));
}

void Scenario::hire(OwnerKind kind) {
    auto const& proxy = kind == OwnerKind::recorded ? to_peers_ : to_owners_;
    int const number = next_number_++;
    auto const services = static_cast<std::size_t>(options_.services);
    auto member =
        std::make_unique<Member>(Member{Owner{options_.fleet, proxy.url(), kind},
                                        std::vector<Place>(services, Place{number, true})});
    for (int service = 0; service < options_.services; ++service) {
        member->owner.add(service_name(service), number);
    }
    members_.push_back(std::move(member));
}

void Scenario::dismiss(std::size_t index) {
    auto& member = *members_[index];
    member.owner.kill();
    listen();
    for (int service = 0; service < options_.services; ++service) {
        truth_.abandoned(service_name(service), id_at(member, service), Clock::now());
        dismissed_.emplace_back(service_name(service), id_at(member, service));
    }
    look_at_leases();
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
}

std::unique_ptr<Scenario::Reader> Scenario::open_reader() const {
    auto reader = std::make_unique<Reader>(to_readers_.url());
    Registry const registry{reader->client, options_.fleet.make_layout()};
    for (int service = 0; service < options_.services; ++service) {
        reader->services.push_back(registry.service(service_name(service)));
    }
    reader->loaded.resize(reader->services.size());
    return reader;
}

Outcome Scenario::run() {
    for (int i = 0; i < options_.owners; ++i) {
        hire(i % 4 == 3 ? OwnerKind::recorded : OwnerKind::announcer);
    }
    for (std::size_t i = 0; i < options_.readers; ++i) readers_.push_back(open_reader());
    await_all();
    for (auto const& kinds : {faults(), changes()}) {
        for (auto const& kind : kinds) {
            if (kind.must) outcome_.happened[kind.name] = 0;
        }
    }
    // All once, however short the run; then again in other orders.
    std::vector<Kind> order{faults().begin(), faults().end()};
    auto const end = Clock::now() + options_.length;
    for (std::size_t step = 0; step < order.size() || Clock::now() < end; ++step) {
        if (step % order.size() == 0) std::shuffle(order.begin(), order.end(), random_);
        for (auto const& kind : changes()) happen(kind);
        happen(order[step % order.size()]);
        pass(milliseconds{1'000 + any(random_, 2'500)});
    }
    pass(options_.fleet.lease + 4s);
    outcome_.figures = truth_.figures();
    for (auto const& watched : {to_owners_.watched(), to_readers_.watched()}) {
        outcome_.noticed_max = std::max(outcome_.noticed_max, watched.noticed_max());
        outcome_.noticed += watched.noticed();
        outcome_.held_up += watched.held_up();
        outcome_.back_max = std::max(outcome_.back_max, watched.back_max());
    }
    return outcome_;
}

void Scenario::happen(Kind const& kind) {
    if ((this->*kind.happen)()) ++outcome_.happened[kind.name];
}

void Scenario::await_all() {
    auto const wanted =
        static_cast<std::size_t>(options_.services) * static_cast<std::size_t>(options_.owners);
    auto const end = Clock::now() + 30s;
    while (truth_.healthy() < wanted) {
        if (Clock::now() > end) throw std::runtime_error{"the fleet does not come up"};
        listen();
        std::this_thread::sleep_for(10ms);
    }
    truth_.clean_from(Clock::now());
    note("the fleet is up");
}

void Scenario::listen() {
    for (auto const& member : members_) {
        for (auto const& line : member->owner.said()) hear(line);
    }
}

void Scenario::hear(std::string const& line) {
    std::istringstream words{line};
    std::string what;
    std::string service;
    std::string id;
    long long at = 0;
    words >> what >> service >> id >> at;
    if (what == "registered") truth_.acknowledged(service, id, time_of(at));
    if (what == "released") truth_.released(service, id, time_of(at));
    if (what == "abandoned") truth_.abandoned(service, id, time_of(at));
    if (what == "lapsed") truth_.lapsed(service, id);
    if (what != "conflict") return;
    ++outcome_.conflicts;
    note("told of another owner of " + id);
}

void Scenario::sample() {
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        if (!paths_are_clean()) truth_.clean_from(Clock::now());
        sample(i);
        auto const& seen = truth_.figures();
        note_growth(noted_hidden_, seen.hidden_max, seen.hidden_example + " hidden", i);
        note_growth(noted_lingering_, seen.lingering_max, seen.lingering_example + " lingers", i);
        note_growth(noted_unpromised_, seen.unpromised_max,
                    seen.unpromised_example + " hidden, unpromised,", i);
    }
}

void Scenario::sample(std::size_t index) {
    auto& reader = *readers_[index];
    for (std::size_t number = 0; number < reader.services.size(); ++number) {
        auto const& service = reader.services[number];
        std::error_code error;
        auto const snapshot = service.instances(error);
        if (error) {
            if (reader.loaded[number]) truth_.reader_failed();
            continue;
        }
        reader.loaded[number] = true;
        std::vector<Shown> shown;
        shown.reserve(snapshot.size());
        for (auto const& instance : snapshot) {
            auto const state = snapshot.state(instance.instance_id);
            shown.push_back({instance.instance_id, state && state->suspect});
        }
        truth_.sample(index, service.name(), shown, Clock::now());
    }
}

void Scenario::look_at_leases() {
    auto const now = Clock::now();
    if (see_leases()) {
        // Leases ran out meanwhile, and nobody could renew them.
        if (standing_still_ && now - seen_at_ > options_.fleet.lease / 2) data_lost();
        standing_still_ = false;
        seen_at_ = Clock::now();
        return;
    }
    if (broken_) return;
    truth_.clean_from(Clock::now());
    if (!std::exchange(standing_still_, true)) ++outcome_.standstills;
    note("Redis stands still");
}

bool Scenario::see_leases() try {
    constexpr auto script =
        "local left = {} for i, key in ipairs(KEYS) do left[i] = redis.call('PTTL', key) end "
        "return left";
    // What a dead owner had sent may still be on its way.
    auto asked = dismissed_;
    for (auto const& member : members_) {
        for (int service = 0; service < options_.services; ++service) {
            asked.emplace_back(service_name(service), id_at(*member, service));
        }
    }
    std::vector<std::string> words{"EVAL", script, std::to_string(asked.size())};
    for (auto const& [service, id] : asked) words.push_back(key_of(options_.fleet, service, id));
    auto const left = test::RedisClient{server_.socket(), 1s}.must(words).elements;
    auto const now = Clock::now();
    for (std::size_t i = 0; i < asked.size(); ++i) {
        // Who is not stored, or only in part, keeps the end that was seen last.
        auto const lease = milliseconds{left.at(i).integer};
        if (lease > 0ms) truth_.leased(asked[i].first, asked[i].second, now + lease);
        if (lease <= 0ms) std::erase(dismissed_, asked[i]);
    }
    return true;
} catch (std::runtime_error const&) {
    return false;  // Redis is down: nobody is renewed either.
}

bool Scenario::paths_are_clean() {
    return !broken_ && to_owners_.all_connected() && to_readers_.all_connected();
}

void Scenario::pass(milliseconds time) {
    auto const end = Clock::now() + time;
    do {
        if (looks_++ % samples_for_a_look_at_leases == 0) look_at_leases();
        listen();
        sample();
        std::this_thread::sleep_for(between_samples);
    } while (Clock::now() < end);
}

}  // namespace rollcall::chaos

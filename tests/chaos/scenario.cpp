#include "chaos/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rollcall::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A dead connection is noticed within one second and made again within another.
constexpr milliseconds reconnect_time{2'000};
constexpr milliseconds between_samples{50};

/// A restart finds all that was acknowledged before.
std::vector<std::string> durable() { return {"appendonly yes", "appendfsync always", "save \"\""}; }

Time time_of(long long nanoseconds) {
    return Time{std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds{nanoseconds})};
}

}  // namespace

Scenario::Scenario(ScenarioOptions const& options)
    : options_(options),
      random_(options.seed),
      server_(durable()),
      truth_(options.fleet.lease),
      started_(Clock::now()) {}

Scenario::~Scenario() = default;

int Scenario::any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

Scenario::Member& Scenario::any_member() {
    return *members_[static_cast<std::size_t>(any(static_cast<int>(members_.size())))];
}

void Scenario::note(std::string const& what) {
    if (!options_.verbose) return;
    std::fprintf(stderr, "%7.2f  %s\n", Seconds{Clock::now() - started_}.count(), what.c_str());
}

void Scenario::hire() {
    int const number = next_number_++;
    auto const kind = number % 4 == 3 ? OwnerKind::java_like : OwnerKind::announcer;
    auto member = std::make_unique<Member>(
        Member{Owner{options_.fleet, to_owners_.url(), kind}, number,
               std::vector<bool>(static_cast<std::size_t>(options_.services), true)});
    for (int service = 0; service < options_.services; ++service) {
        member->owner.add(service_name(service), number);
    }
    members_.push_back(std::move(member));
}

Figures Scenario::run() {
    for (int i = 0; i < options_.owners; ++i) hire();
    for (std::size_t i = 0; i < options_.readers; ++i) {
        readers_.push_back(std::make_unique<Reader>(to_readers_.url()));
        Registry const registry{readers_.back()->client, options_.fleet.make_layout()};
        for (int service = 0; service < options_.services; ++service) {
            readers_.back()->services.push_back(registry.service(service_name(service)));
        }
    }
    await_all();
    constexpr Fault faults[] = {&Scenario::restart_with_data,
                                &Scenario::restart_empty,
                                &Scenario::long_outage,
                                &Scenario::cut_readers,
                                &Scenario::cut_owners,
                                &Scenario::half_open,
                                &Scenario::delay,
                                &Scenario::flush_scripts,
                                &Scenario::kill_clients,
                                &Scenario::flush_all,
                                &Scenario::delete_one_hash};
    std::vector<Fault> order{std::begin(faults), std::end(faults)};
    auto const end = Clock::now() + options_.length;
    for (std::size_t step = 0; Clock::now() < end; ++step) {
        if (step % order.size() == 0) std::shuffle(order.begin(), order.end(), random_);
        change_metadata();
        join_and_leave();
        if (any(2) == 0) kill_owner();
        (this->*order[step % order.size()])();
        pass(milliseconds{1'000 + any(3'000)});
    }
    pass(options_.fleet.lease + reconnect_time + 2s);
    return truth_.figures();
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
        for (auto const& line : member->owner.said()) {
            std::istringstream words{line};
            std::string what;
            std::string service;
            std::string id;
            long long at = 0;
            words >> what >> service >> id >> at;
            if (what == "registered") truth_.acknowledged(service, id, time_of(at));
            if (what == "released") truth_.released(service, id, time_of(at));
            if (what == "abandoned") truth_.abandoned(service, id, time_of(at));
        }
    }
}

void Scenario::sample() {
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        for (auto const& service : readers_[i]->services) {
            std::error_code error;
            auto const snapshot = service.instances(error);
            if (error) {
                truth_.reader_failed();
                continue;
            }
            std::vector<Shown> shown;
            shown.reserve(snapshot.size());
            for (auto const& instance : snapshot) {
                auto const state = snapshot.state(instance.instance_id);
                shown.push_back({instance.instance_id, state && state->suspect});
            }
            truth_.sample(i, service.name(), shown, Clock::now());
        }
    }
}

void Scenario::pass(milliseconds time) {
    auto const end = Clock::now() + time;
    do {
        listen();
        sample();
        std::this_thread::sleep_for(between_samples);
    } while (Clock::now() < end);
}

void Scenario::paths_broken_for(milliseconds more) {
    truth_.clean_from(Clock::now() + more + reconnect_time);
}

void Scenario::restart_with_data() {
    note("killed, and started with its data");
    paths_broken_for(1s);
    server_.kill();
    pass(milliseconds{any(800)});
    server_.start(durable());
    paths_broken_for(0s);
}

void Scenario::restart_empty() {
    note("killed, and started empty");
    paths_broken_for(1s);
    server_.kill();
    std::filesystem::remove_all(server_.folder() / "appendonlydir");
    truth_.data_lost(Clock::now());
    pass(milliseconds{any(800)});
    server_.start(durable());
    paths_broken_for(0s);
}

void Scenario::long_outage() {
    note("down for longer than a lease");
    auto const time = options_.fleet.lease + 2s;
    paths_broken_for(time + 1s);
    server_.kill();
    pass(time);
    server_.start(durable());
    // Every lease has run out meanwhile: it is as if the data had been lost.
    truth_.data_lost(Clock::now());
    paths_broken_for(0s);
}

void Scenario::cut_readers() {
    note("the connections of the readers are cut");
    paths_broken_for(0s);
    to_readers_.cut();
}

void Scenario::cut_owners() {
    note("the connections of the owners are cut");
    paths_broken_for(0s);
    to_owners_.cut();
}

void Scenario::half_open() {
    note("nothing passes, nothing closes");
    auto const time = milliseconds{1'000 + any(2'000)};
    paths_broken_for(time);
    auto& proxy = any(2) == 0 ? to_readers_ : to_owners_;
    proxy.set_silent(true);
    pass(time);
    proxy.set_silent(false);
    paths_broken_for(0s);
}

void Scenario::delay() {
    note("everything is late");
    auto const by = milliseconds{20 + any(130)};
    // Four ways of a request to be found and read: its time is no time of ours.
    paths_broken_for(2s);
    to_readers_.set_delay(by);
    to_owners_.set_delay(by);
    pass(2s);
    to_readers_.set_delay(0ms);
    to_owners_.set_delay(0ms);
}

void Scenario::flush_scripts() {
    note("SCRIPT FLUSH");
    test::RedisClient{server_}.must({"SCRIPT", "FLUSH"});
}

void Scenario::kill_clients() {
    note("CLIENT KILL");
    paths_broken_for(0s);
    test::RedisClient{server_}.must({"CLIENT", "KILL", "TYPE", any(2) == 0 ? "pubsub" : "normal"});
}

void Scenario::flush_all() {
    note("FLUSHALL");
    test::RedisClient{server_}.must({"FLUSHALL"});
    truth_.data_lost(Clock::now());
}

void Scenario::delete_one_hash() {
    note("one Hash deleted by hand");
    test::RedisClient redis{server_};
    auto const pattern =
        options_.fleet.layout == "cosky" ? "*:svc_itc:*" : "chaos:services:*:instance:*";
    auto const keys = redis.must({"KEYS", pattern}).texts();
    if (keys.empty()) return;
    redis.must({"DEL", keys[static_cast<std::size_t>(any(static_cast<int>(keys.size())))]});
}

void Scenario::kill_owner() {
    auto const at = members_.begin() + any(static_cast<int>(members_.size()));
    note("an owner is killed");
    (*at)->owner.kill();
    listen();
    for (int service = 0; service < options_.services; ++service) {
        truth_.abandoned(service_name(service),
                         id_of(options_.fleet, service_name(service), (*at)->number), Clock::now());
    }
    members_.erase(at);
    hire();
}

void Scenario::join_and_leave() {
    for (int i = 0; i < 5; ++i) {
        auto& member = any_member();
        auto const service = any(options_.services);
        auto const present = member.present.begin() + service;
        if (!*present) continue;  // Ids do not come back: what leaves stays away.
        *present = false;
        auto const name = service_name(service);
        truth_.leaving(name, id_of(options_.fleet, name, member.number));
        member.owner.remove(name, member.number);
    }
}

void Scenario::change_metadata() {
    for (int i = 0; i < 10; ++i) {
        auto& member = any_member();
        auto const service = any(options_.services);
        if (!member.present[static_cast<std::size_t>(service)]) continue;
        member.owner.change(service_name(service), member.number, any(1'000));
    }
}

}  // namespace rollcall::chaos

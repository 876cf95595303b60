#include <algorithm>
#include <array>
#include <filesystem>

#include "chaos/scenario.hpp"

namespace rollcall::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

}  // namespace

std::span<Scenario::Kind const> Scenario::faults() {
    static constexpr Kind kinds[] = {
        {"killed, and started with its data", &Scenario::restart_with_data},
        {"killed, and started empty", &Scenario::restart_empty},
        {"down for longer than a lease", &Scenario::long_outage},
        {"connections of readers cut", &Scenario::cut_readers},
        {"connections of owners cut", &Scenario::cut_owners},
        {"readers half-open", &Scenario::half_open_readers},
        {"owners half-open", &Scenario::half_open_owners},
        {"everything late", &Scenario::delay},
        {"SCRIPT FLUSH", &Scenario::flush_scripts},
        {"CLIENT KILL pubsub", &Scenario::kill_pubsub_clients},
        {"CLIENT KILL normal", &Scenario::kill_normal_clients},
        {"FLUSHALL", &Scenario::flush_all},
        {"a Hash deleted by hand", &Scenario::delete_one_hash}};
    return kinds;
}

std::span<Scenario::Kind const> Scenario::changes() {
    static constexpr Kind kinds[] = {
        {"metadata changed", &Scenario::change_metadata},
        {"a reader replaced", &Scenario::replace_reader},
        {"instances left", &Scenario::leave},
        {"instances joined", &Scenario::join},
        {"instances came back", &Scenario::come_back},
        {"a recorded program started again", &Scenario::restart_peer, false},
        {"an owner killed and replaced", &Scenario::kill_owner}};
    return kinds;
}

void Scenario::data_lost() { truth_.data_lost(Clock::now()); }

void Scenario::start_server() {
    server_.start({"appendonly yes", "appendfsync always", "save \"\""});
    broken_ = false;
    truth_.clean_from(Clock::now());
}

bool Scenario::restart_with_data() {
    note("killed, and started with its data");
    broken_ = true;
    server_.kill();
    pass(milliseconds{any(random_, 800)});
    start_server();
    return !test::RedisClient{server_}.must({"KEYS", "*"}).elements.empty();
}

bool Scenario::restart_empty() {
    note("killed, and started empty");
    broken_ = true;
    server_.kill();
    std::filesystem::remove_all(server_.folder() / "appendonlydir");
    data_lost();
    pass(milliseconds{any(random_, 800)});
    start_server();
    return true;
}

bool Scenario::long_outage() {
    note("down for longer than a lease");
    broken_ = true;
    server_.kill();
    pass(options_.fleet.lease + 2s);
    start_server();
    // Every lease has run out meanwhile: it is as if the data had been lost.
    data_lost();
    return true;
}

bool Scenario::cut_readers() {
    note("the connections of the readers are cut");
    bool const any_there = to_readers_.connections() > 0;
    to_readers_.cut();
    return any_there;
}

bool Scenario::cut_owners() {
    note("the connections of the owners are cut");
    bool const any_there = to_owners_.connections() > 0 && to_peers_.connections() > 0;
    to_owners_.cut();
    to_peers_.cut();
    return any_there;
}

bool Scenario::half_open_readers() {
    note("nothing passes to readers, nothing closes");
    return be_silent(std::array{&to_readers_});
}

bool Scenario::half_open_owners() {
    note("nothing passes to owners, nothing closes");
    return be_silent(std::array{&to_owners_, &to_peers_});
}

bool Scenario::be_silent(std::span<FaultProxy* const> proxies) {
    bool const any_there =
        std::ranges::all_of(proxies, [](auto* proxy) { return proxy->connections() > 0; });
    broken_ = true;
    for (auto* proxy : proxies) proxy->set_silent(true);
    pass(milliseconds{1'000 + any(random_, 2'000)});
    for (auto* proxy : proxies) proxy->set_silent(false);
    broken_ = false;
    truth_.clean_from(Clock::now());
    return any_there;
}

bool Scenario::delay() {
    note("everything is late");
    auto const by = milliseconds{20 + any(random_, 130)};
    auto const everywhere = std::array{&to_owners_, &to_peers_, &to_readers_};
    broken_ = true;
    for (auto* proxy : everywhere) proxy->set_delay(by);
    pass(2s);
    for (auto* proxy : everywhere) proxy->set_delay(0ms);
    broken_ = false;
    truth_.clean_from(Clock::now());
    return std::ranges::all_of(everywhere, [](auto* proxy) { return proxy->connections() > 0; });
}

bool Scenario::flush_scripts() {
    note("SCRIPT FLUSH");
    test::RedisClient redis{server_};
    auto const cached = redis.must({"INFO", "memory"}).text;
    redis.must({"SCRIPT", "FLUSH"});
    return cached.find("number_of_cached_scripts:0\r") == std::string::npos;
}

bool Scenario::kill_pubsub_clients() { return kill_clients("pubsub"); }
bool Scenario::kill_normal_clients() { return kill_clients("normal"); }

bool Scenario::kill_clients(char const* type) {
    note(std::string{"CLIENT KILL "} + type);
    return test::RedisClient{server_}.must({"CLIENT", "KILL", "TYPE", type}).integer > 0;
}

bool Scenario::flush_all() {
    note("FLUSHALL");
    test::RedisClient redis{server_};
    bool const any_there = redis.must({"DBSIZE"}).integer > 0;
    redis.must({"FLUSHALL"});
    data_lost();
    return any_there;
}

bool Scenario::delete_one_hash() {
    // Some places are empty, and some owners lost what they had.
    for (int attempt = 0; attempt < 50; ++attempt) {
        auto const& member = any_member(changing_);
        auto const service = any(changing_, options_.services);
        auto const name = service_name(service);
        auto const id = id_at(member, service);
        auto const key = key_of(options_.fleet, name, id);
        if (test::RedisClient{server_}.must({"DEL", key}).integer == 0) continue;
        note("the Hash of " + id + " is deleted by hand");
        if (options_.fleet.layout == "cosky") truth_.unpromised(name, id);
        return true;
    }
    return false;
}

bool Scenario::kill_owner() {
    if (outcome_.happened["an owner killed and replaced"] > 0 && any(changing_, 2) == 0)
        return false;
    note("an owner is killed");
    auto const index = static_cast<std::size_t>(any(changing_, static_cast<int>(members_.size())));
    auto const kind = members_[index]->owner.kind();
    dismiss(index);
    hire(kind);
    return true;
}

bool Scenario::restart_peer() {
    // The Java module's instances do not come back by themselves: somebody starts it again.
    for (std::size_t index = 0; index < members_.size(); ++index) {
        auto const& member = *members_[index];
        if (member.owner.kind() != OwnerKind::recorded) continue;
        int healthy = 0;
        for (int service = 0; service < options_.services; ++service) {
            healthy += truth_.is_healthy(service_name(service), id_at(member, service)) ? 1 : 0;
        }
        if (healthy > 0) continue;
        note("a recorded program that lost everything is started again");
        dismiss(index);
        hire(OwnerKind::recorded);
        return true;
    }
    return false;
}

bool Scenario::leave() {
    bool done = false;
    for (int i = 0; i < 5; ++i) {
        auto& member = any_member(changing_);
        auto const service = any(changing_, options_.services);
        auto& place = member.places[static_cast<std::size_t>(service)];
        if (!place.present) continue;
        place.present = false;
        auto const name = service_name(service);
        truth_.leaving(name, id_at(member, service));
        member.owner.remove(name, place.number);
        done = true;
    }
    return done;
}

std::optional<Scenario::Vacancy> Scenario::any_vacancy() {
    std::vector<Vacancy> all;
    for (auto const& member : members_) {
        for (int service = 0; service < options_.services; ++service) {
            auto const& place = member->places[static_cast<std::size_t>(service)];
            if (place.present) continue;
            // A place whose owner has not told yet how it went must not be forgotten.
            if (!truth_.is_released(service_name(service), id_at(*member, service))) continue;
            all.push_back({member.get(), service});
        }
    }
    if (all.empty()) return std::nullopt;
    return all[static_cast<std::size_t>(any(changing_, static_cast<int>(all.size())))];
}

bool Scenario::fill(Vacancy const& vacancy, int number) {
    auto const [member, service] = vacancy;
    auto const name = service_name(service);
    member->places[static_cast<std::size_t>(service)] = {number, true};
    truth_.entering(name, id_at(*member, service));
    member->owner.add(name, number);
    return true;
}

bool Scenario::join() {
    auto const vacancy = any_vacancy();
    return vacancy && fill(*vacancy, next_number_++);
}

bool Scenario::come_back() {
    auto const vacancy = any_vacancy();
    if (!vacancy) return false;
    auto const& places = vacancy->member->places;
    return fill(*vacancy, places[static_cast<std::size_t>(vacancy->service)].number);
}

bool Scenario::change_metadata() {
    bool done = false;
    for (int i = 0; i < 10; ++i) {
        auto& member = any_member(changing_);
        auto const service = any(changing_, options_.services);
        auto const& place = member.places[static_cast<std::size_t>(service)];
        if (!place.present) continue;
        member.owner.change(service_name(service), place.number, any(changing_, 1'000));
        done = true;
    }
    return done;
}

bool Scenario::replace_reader() {
    if (outcome_.happened["a reader replaced"] > 0 && any(changing_, 4) != 0) return false;
    auto const index = static_cast<std::size_t>(any(changing_, static_cast<int>(readers_.size())));
    // Its first answers would be waited for, and nobody looked at meanwhile.
    if (!paths_are_clean()) return false;
    note("a reader is replaced");
    auto const before = to_readers_.connections();
    readers_[index].reset();
    // All are of this process: who does not wait sees more of them than there will be.
    if (!test::eventually([&] { return to_readers_.connections() < before - 1; })) return false;
    readers_[index] = open_reader();
    truth_.reader_opened(index);
    sample();
    auto const& loaded = readers_[index]->loaded;
    return std::ranges::all_of(loaded, [](bool one) { return one; });
}

}  // namespace rollcall::chaos

#include "model/balancing/scenes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rollcall::test {
namespace {

constexpr std::size_t processes = 10;
constexpr double calls_a_second = 5'000;
constexpr std::size_t users = 20'000;

double milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>{time}.count();
}

}  // namespace

std::string Fleet::zone_of(std::size_t instance) {
    constexpr std::array zones{"a", "b", "c"};
    return zones[instance % zones.size()];
}

Fleet::Fleet(balance::Policy const& policy, std::uint64_t seed) {
    std::vector<Handle*> all;
    for (std::size_t process = 0; process < processes; ++process) {
        auto& crowd = processes_.emplace_back();
        for (std::size_t i = 0; i < size; ++i) crowd.add(1, {{"zone", zone_of(i)}});
        all.push_back(&handles_.emplace_back(crowd, policy));
    }
    CallSimulation::Options options;
    options.calls_a_second = calls_a_second;
    options.seed = seed;
    if (std::holds_alternative<ConsistentHash>(policy.balancer)) options.keys = users;
    simulation_ = std::make_unique<CallSimulation>(processes_.front(), std::move(all), options);
}

void Fleet::look() {
    for (auto& handle : handles_) handle.look();
}

void Fleet::lose_zone() {
    for (std::size_t i = 0; i < size; ++i) {
        if (zone_of(i) == "a") behaviour(i).takes = std::chrono::hours{1};
    }
}

void Fleet::zone_is_noticed_to_be_lost() {
    for (auto& crowd : processes_) {
        for (std::size_t i = 0; i < size; ++i) {
            if (zone_of(i) == "a") crowd.set_able(i, false);
        }
    }
    look();
}

std::size_t Fleet::add_one() {
    std::size_t added = 0;
    for (auto& crowd : processes_) {
        added = crowd.add(1, {{"zone", "b"}});
        crowd.stats(added).appeared_at.set(simulation_->now());
    }
    look();
    return added;
}

Seen Fleet::run_for(std::chrono::seconds time) {
    auto const before = simulation_->calls().size();
    simulation_->run_for(time);
    auto const& calls = simulation_->calls();
    auto const instances = processes_.front().size();
    std::vector<double> counted(instances);
    std::vector<double> took;
    Seen seen;
    auto const one = 1.0 / static_cast<double>(calls.size() - before);
    for (auto i = before; i < calls.size(); ++i) {
        counted[calls[i].instance] += one * static_cast<double>(instances);
        took.push_back(milliseconds(calls[i].took));
        seen.errors += calls[i].failed ? one : 0;
        seen.in_zone += zone_of(calls[i].instance) == "a" ? one : 0;
    }
    std::ranges::sort(took);
    seen.slow = counted[slow];
    seen.failing = counted[failing];
    seen.newcomer = instances > size ? counted[size] : 0;
    seen.least = *std::ranges::min_element(counted);
    seen.most = *std::ranges::max_element(counted);
    seen.half_in = took[took.size() / 2];
    seen.most_in = took[took.size() * 99 / 100];
    return seen;
}

}  // namespace rollcall::test

// How each balancer fares with instances that are slow, fail, come or are lost, on virtual time:
// prints the tables of docs/balancing.md, and fails when what that page advises does not hold.
//
//     build/release/bin/balancing_simulation [SEED]

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/balancing/scenes.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

struct Row {
    std::string balancer;
    std::vector<std::string> cells;
};

std::string percent(double part) {
    char text[16];
    std::snprintf(text, sizeof text, part < 0.0995 ? "%.1f %%" : "%.0f %%", part * 100);
    return text;
}
std::string time(double milliseconds) { return std::to_string(std::lround(milliseconds)) + " ms"; }

class Simulation {
public:
    explicit Simulation(std::uint64_t seed) : seed_(seed) {}

    void all_well();
    void fast_failure();
    void slow_and_failing(bool ejection);
    void zone_lost(bool ejection);
    void newcomer(bool slow_start);
    int broken() const { return broken_; }

private:
    using Cells = std::vector<std::string>;

    void table(std::string_view title, Cells const& columns,
               std::function<Cells(balance::Policy)> const& row) const;
    void expect(bool holds, std::string const& what) {
        if (holds) return;
        ++broken_;
        std::fprintf(stderr, "does not hold: %s\n", what.c_str());
    }
    static std::string by(balance::Policy const& policy) {
        return std::string{name(policy.balancer)};
    }

    std::uint64_t seed_;
    int broken_ = 0;
};

void print(Simulation const&, std::vector<std::string> const& cells) {
    for (auto const& cell : cells) std::printf("| %s ", cell.c_str());
    std::puts("|");
}

void Simulation::table(std::string_view title, Cells const& columns,
                       std::function<Cells(balance::Policy)> const& row) const {
    std::printf("\n### %.*s\n\n", static_cast<int>(title.size()), title.data());
    print(*this, columns);
    print(*this, Cells(columns.size(), "---"));
    for (auto const& balancer : all_balancers()) {
        balance::Policy policy;
        policy.balancer = balancer;
        auto cells = row(policy);
        cells.insert(cells.begin(), '`' + by(policy) + '`');
        print(*this, cells);
    }
}

void Simulation::all_well() {
    table("All is well",
          {"balancer", "least busy", "busiest", "errors", "half within", "99 % within"},
          [this](balance::Policy const& policy) {
              Fleet fleet{policy, seed_};
              fleet.run_for(30s);
              auto const seen = fleet.run_for(60s);
              expect(seen.errors < 0.0001, by(policy) + " makes no errors where all is well");
              return Cells{percent(seen.least), percent(seen.most), percent(seen.errors),
                           time(seen.half_in), time(seen.most_in)};
          });
}

/// Ten instances and one caller.
class Small {
public:
    explicit Small(balance::Policy const& policy, std::uint64_t seed)
        : handle_(crowd_, policy), simulation_(crowd_, {&handle_}, options(policy, seed)) {
        for (std::size_t i = 0; i < 10; ++i) behaviour(i).varies = false;
    }
    Behaviour& behaviour(std::size_t instance) { return simulation_.behaviour(instance); }
    std::size_t add_one() {
        auto const added = crowd_.add(1);
        handle_.look();
        behaviour(added).varies = false;
        return added;
    }
    double share_in(std::size_t calls, std::size_t instance) {
        auto const before = simulation_.calls().size();
        simulation_.run(calls);
        return simulation_.share(instance, before);
    }

private:
    static CallSimulation::Options options(balance::Policy const& policy, std::uint64_t seed) {
        CallSimulation::Options made;
        made.seed = seed;
        if (std::holds_alternative<ConsistentHash>(policy.balancer)) made.keys = 20'000;
        return made;
    }

    Crowd crowd_ = Crowd::of(10);
    Handle handle_;
    CallSimulation simulation_;
};

void Simulation::fast_failure() {
    table("Nine succeed in 20 ms, and one fails in 1 ms; shares of all calls",
          {"balancer", "the failing one: first 5,000 calls", "next 5,000",
           "an eleventh: its first 1,000", "one whose calls never end: of 10,000"},
          [this](balance::Policy const& policy) {
              Small fleet{policy, seed_};
              fleet.behaviour(4).failing = 1;
              auto const first = fleet.share_in(5'000, 4);
              auto const then = fleet.share_in(5'000, 4);
              auto const newcomer = fleet.share_in(1'000, fleet.add_one());
              Small other{policy, seed_};
              other.behaviour(4).ends = false;
              auto const endless = other.share_in(10'000, 4);
              if (!std::holds_alternative<ConsistentHash>(policy.balancer)) {
                  expect(first <= 0.105 && then <= 0.105, by(policy) + " loves no fast failure");
                  expect(newcomer <= 2.0 / 11, by(policy) + " does not flood a newcomer");
                  expect(endless <= 0.105, by(policy) + " does not prefer who never ends");
              }
              return Cells{percent(first), percent(then), percent(newcomer), percent(endless)};
          });
}

void Simulation::slow_and_failing(bool ejection) {
    std::string title = "One takes ten times as long, and one fails every other call at once";
    if (ejection) title += ", with ejection";
    table(title,
          {"balancer", "the slow one", "the failing one", "errors", "half within", "99 % within"},
          [this, ejection](balance::Policy policy) {
              if (ejection) policy.ejection = OutlierEjection{};
              Fleet fleet{policy, seed_};
              fleet.behaviour(Fleet::slow).takes = 200ms;
              fleet.behaviour(Fleet::failing).failing = 0.5;
              fleet.run_for(30s);
              auto const seen = fleet.run_for(120s);
              auto const& balancer = policy.balancer;
              bool const looks = std::holds_alternative<LeastOutstanding>(balancer) ||
                                 std::holds_alternative<LowestLatency>(balancer);
              if (looks) {
                  expect(seen.slow < 0.5, by(policy) + " spares the slow one");
                  expect(seen.failing < 0.5, by(policy) + " spares the failing one");
                  expect(seen.errors < 0.005, by(policy) + " makes few errors");
              }
              return Cells{percent(seen.slow), percent(seen.failing), percent(seen.errors),
                           time(seen.half_in), time(seen.most_in)};
          });
}

void Simulation::zone_lost(bool ejection) {
    std::string title = "The callers' zone is lost";
    if (ejection) title += ", with ejection";
    table(title,
          {"balancer", "in the zone before", "10 s until it is noticed: errors", "99 % within",
           "after: in the zone", "errors", "99 % within"},
          [this, ejection](balance::Policy policy) {
              policy.locality.zone = "a";
              if (ejection) policy.ejection = OutlierEjection{};
              Fleet fleet{policy, seed_};
              auto const before = fleet.run_for(30s);
              fleet.lose_zone();
              auto const lost = fleet.run_for(10s);
              fleet.zone_is_noticed_to_be_lost();
              fleet.run_for(2s);  // Those that are still waited for.
              auto const after = fleet.run_for(30s);
              expect(before.in_zone > 0.9999, by(policy) + " stays in the zone");
              expect(after.in_zone < 0.0001 && after.errors < 0.0001,
                     by(policy) + " leaves the zone");
              return Cells{percent(before.in_zone), percent(lost.errors),  time(lost.most_in),
                           percent(after.in_zone),  percent(after.errors), time(after.most_in)};
          });
}

void Simulation::newcomer(bool slow_start) {
    std::string title = "One comes, and takes 20 times as long in its first minute";
    if (slow_start) title += ", with two minutes of slow start";
    table(title,
          {"balancer", "it gets in its first 10 s", "errors", "99 % within", "a minute later",
           "after two"},
          [this, slow_start](balance::Policy policy) {
              if (slow_start) policy.slow_start = 2min;
              Fleet fleet{policy, seed_};
              fleet.run_for(20s);
              auto const added = fleet.add_one();
              fleet.behaviour(added).takes = 400ms;
              auto const first = fleet.run_for(10s);
              fleet.run_for(50s);
              fleet.behaviour(added).takes = 20ms;
              auto const later = fleet.run_for(10s);
              fleet.run_for(50s);
              auto const at_last = fleet.run_for(30s);
              expect(first.newcomer < 2, by(policy) + " does not flood a newcomer");
              expect(at_last.newcomer > 0.6, by(policy) + " gives a newcomer its share at last");
              return Cells{percent(first.newcomer), percent(first.errors), time(first.most_in),
                           percent(later.newcomer), percent(at_last.newcomer)};
          });
}

int run(std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.all_well();
    simulation.fast_failure();
    for (bool const ejection : {false, true}) simulation.slow_and_failing(ejection);
    for (bool const ejection : {false, true}) simulation.zone_lost(ejection);
    for (bool const slow_start : {false, true}) simulation.newcomer(slow_start);
    return simulation.broken() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rollcall::test

int main(int argc, char** argv) {
    return rollcall::test::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
}

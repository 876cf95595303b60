#include "model/fleet/jvm.hpp"

#include <array>
#include <memory>

namespace rollcall::test::fleet {
namespace {

constexpr std::array<milliseconds, 3> periods_of_callers{seconds{3}, seconds{10}, seconds{30}};
constexpr seconds period_of_cosky{10};
constexpr seconds first_cleanup{60};
constexpr seconds between_cleanups{30};

}  // namespace

Jvm::Jvm(World& world, std::size_t number, std::uint64_t incarnation)
    : Process(world, number, incarnation),
      commands_(add_line()),
      period_(is_cosky() ? period_of_cosky
                         : periods_of_callers.at(number % periods_of_callers.size())) {}

void Jvm::start() {
    commands_.start();
    world_.timeline.after(period_, [this] { beat(); });
    world_.timeline.after(first_cleanup, [this] { clean_up(); });
}

void Jvm::announce(std::size_t service) {
    auto const of = member(service);
    if (mine_.contains(of)) return;
    world_.truth.wanted(of, 1, false);
    register_by(of);
}

void Jvm::register_by(std::size_t of) {
    mine_.insert(of);
    commands_.ask(
        [this, of] {
            auto const instance = described(world_.members[of], 1);
            world_.redis.act([&](Contents& contents) { contents.register_by(instance, skew()); });
            world_.note("Redis registers " + instance.instance_id + " for " + name() + " (JVM)");
            world_.truth.stored(of, true);
        },
        [this, of](bool answered) {
            if (!alive()) return;
            if (answered) return world_.truth.acknowledged(of);
            if (is_cosky()) return;  // Its next renewal finds out.
            mine_.erase(of);
            world_.truth.abandoned(of);
        });
}

/// What CoSky's program is told not to have been there, it goes on renewing.
void Jvm::release(std::size_t service) {
    auto const of = member(service);
    if (!mine_.contains(of)) return;
    world_.truth.leaving(of);
    if (!is_cosky()) mine_.erase(of);
    auto const existed = std::make_shared<bool>(false);
    commands_.ask(
        [this, of, existed] {
            *existed = world_.redis.act([&](Contents& contents) {
                return contents.deregister_by(world_.members[of].instance);
            });
            world_.truth.removed_by_owner(of);
        },
        [this, of, existed](bool answered) {
            if (!alive()) return;
            if (answered && *existed) mine_.erase(of);
            if (answered) return world_.truth.released(of);
            if (!is_cosky()) world_.truth.abandoned(of);
        });
}

void Jvm::beat() {
    if (!alive()) return;
    for (auto const of : mine_) beat(of);
    world_.timeline.after(period_, [this] { beat(); });
}

void Jvm::beat(std::size_t of) {
    auto const alive_there = std::make_shared<bool>(true);
    commands_.ask(
        [this, of, alive_there] {
            auto const beat = world_.redis.act([&](Contents& contents) {
                return contents.heartbeat_by(world_.members[of].instance, skew());
            });
            *alive_there = beat == Contents::Beat::alive;
            world_.truth.refresh(of);
        },
        [this, of, alive_there](bool answered) {
            bool const gone = answered && !*alive_there;
            if (alive() && is_cosky() && gone) register_by(of);
        });
}

void Jvm::clean_up() {
    if (!alive()) return;
    commands_.ask(
        [this] {
            world_.truth.refresh();
            world_.redis.act([&](Contents& contents) {
                for (std::size_t i = 0; i < world_.scene.services; ++i) {
                    contents.clean_up_by(service_name(i), skew());
                }
            });
            world_.truth.swept();
        },
        [](bool) {});
    world_.timeline.after(between_cleanups, [this] { clean_up(); });
}

}  // namespace rollcall::test::fleet

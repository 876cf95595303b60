#include "model/fleet/fleet.hpp"

#include <algorithm>
#include <utility>

#include "model/fleet/announcing.hpp"
#include "model/fleet/jvm.hpp"
#include "model/fleet/watching.hpp"

namespace rollcall::test::fleet {
namespace {

constexpr seconds sweep_period{30};
// To notice a fault and to connect again.
constexpr seconds recovery{2};
constexpr milliseconds least_extra{30};
constexpr int more_extra = 200;
// More at one moment is a loop without end.
constexpr std::uint64_t most_at_once = 100'000;

}  // namespace

Fleet::Fleet(Scene const& scene, bool traced)
    : world_(scene, traced),
      incarnations_(scene.owners.size(), 0),
      away_(scene.owners.size(), false) {}

Report Fleet::run() {
    begin();
    auto const end = world_.begun + world_.scene.lasts;
    auto& timeline = world_.timeline;
    Report report;
    std::uint64_t at_once = 0;
    while (timeline.next() <= end && world_.truth.wrong().empty()) {
        auto const before = timeline.now();
        auto const action = timeline.advance();
        world_.truth.check();
        if (world_.truth.wrong().empty()) action();
        ++report.events;
        at_once = before == timeline.now() ? at_once + 1 : 0;
        if (at_once > most_at_once) world_.truth.fail("it goes round without end");
    }
    if (world_.truth.wrong().empty()) world_.truth.check_complete();
    report.wrong = world_.truth.wrong();
    if (!report.wrong.empty()) world_.note("WRONG: " + report.wrong);
    report.lasted = world_.time();
    report.figures = world_.truth.figures();
    report.trace = std::move(world_.trace);
    return report;
}

std::unique_ptr<Process> Fleet::new_owner(std::size_t number) {
    auto const incarnation = ++incarnations_[number];
    if (world_.scene.owners[number] == Kind::announcer) {
        return std::make_unique<Announcing>(world_, number, incarnation);
    }
    return std::make_unique<Jvm>(world_, number, incarnation);
}

void Fleet::begin() {
    auto const& scene = world_.scene;
    for (std::size_t i = 0; i < scene.owners.size(); ++i) {
        owners_.push_back(new_owner(i));
        owners_.back()->start();
        for (std::size_t service = 0; service < scene.services; ++service) {
            owners_.back()->announce(service);
        }
    }
    for (std::size_t i = 0; i < scene.readers; ++i) {
        readers_.push_back(std::make_unique<Watching>(world_, scene.owners.size() + i, i));
        readers_.back()->start();
    }
    // Nobody is connected yet.
    world_.truth.unclean(world_.begun + recovery);
    world_.timeline.after(sweep_period, [this] { sweep(); });
    for (auto const& step : scene.steps) plan(step);
}

void Fleet::plan(Step const& step) {
    if (step.act == Act::fail_over) {
        world_.timeline.at(world_.begun + std::max(milliseconds{0}, step.at - step.behind),
                           [this, step] { copies_[step.at] = world_.redis.copy(); });
    }
    world_.timeline.at(world_.begun + step.at, [this, step] { apply(step); });
}

Process& Fleet::process(std::size_t number) {
    auto const owners = owners_.size();
    return number < owners ? *owners_[number] : *readers_[number - owners];
}

void Fleet::apply(Step const& step) {
    if (world_.tracing) world_.note("--- " + to_string(step));
    if (step.act <= Act::die) return apply_to_owner(step);
    if (step.act <= Act::evict_hash) return apply_to_instance(step);
    if (step.act <= Act::slow) return apply_to_path(step);
    apply_to_redis(step);
}

void Fleet::apply_to_owner(Step const& step) {
    if (away_[step.who]) return;
    auto& owner = *owners_[step.who];
    switch (step.act) {
        case Act::announce:
            return owner.announce(step.what);
        case Act::release:
            return owner.release(step.what);
        case Act::describe:
            return owner.describe(step.what);
        default:
            return kill(step.who, step.lasts);
    }
}

void Fleet::kill(std::size_t number, milliseconds away) {
    owners_[number]->die();
    world_.truth.died(number);
    away_[number] = true;
    world_.timeline.after(away, [this, number] {
        auto owner = new_owner(number);
        owner->take_over_path(*owners_[number]);
        dead_.push_back(std::exchange(owners_[number], std::move(owner)));
        away_[number] = false;
        world_.truth.unclean(number, world_.timeline.now() + recovery);
        owners_[number]->start();
        for (std::size_t service = 0; service < world_.scene.services; ++service) {
            owners_[number]->announce(service);
        }
    });
}

void Fleet::apply_to_instance(Step const& step) {
    if (!world_.redis.up()) return;
    auto const member = world_.member(step.who, step.what);
    auto const& instance = world_.members[member].instance;
    if (step.act == Act::drain) world_.redis.mark(member, step.lasts);
    // As the program drains.
    bool const stays = step.act == Act::drain && world_.scene.layout == Layout::streaming;
    if (stays || !world_.redis.contents().serves(instance)) return;
    if (step.act == Act::evict_hash) {
        world_.redis.act([&](Contents& contents) { contents.evict_hash(instance); });
        return world_.truth.evicted(member);
    }
    world_.redis.act([&](Contents& contents) { contents.deregister(instance); });
    world_.truth.removed_by_other(member, step.act == Act::drain);
}

void Fleet::apply_to_path(Step const& step) {
    auto& one = process(step.who);
    auto const now = world_.timeline.now();
    world_.truth.disturbed();
    if (step.act == Act::cut) {
        world_.truth.unclean(step.who, now + recovery);
        return one.cut();
    }
    world_.truth.unclean(step.who, now + step.lasts + recovery);
    if (step.act == Act::block) return one.block(step.lasts);
    one.slow(step.lasts, least_extra + milliseconds{step.lasts.count() % more_extra});
}

void Fleet::cut_all() {
    for (std::size_t i = 0; i < world_.scene.processes(); ++i) process(i).cut();
}

void Fleet::apply_to_redis(Step const& step) {
    auto const now = world_.timeline.now();
    switch (step.act) {
        case Act::garbage:
            return world_.redis.garbage(service_name(step.what));
        case Act::kill_clients:
            world_.truth.disturbed();
            world_.truth.unclean(now + recovery);
            return cut_all();
        case Act::block_all:
            world_.truth.disturbed();
            world_.truth.unclean(now + step.lasts + recovery);
            for (std::size_t i = 0; i < world_.scene.processes(); ++i) {
                process(i).block(step.lasts);
            }
            return;
        case Act::flush:
            if (!world_.redis.up()) return;
            world_.redis.flush();
            return world_.truth.data_lost();
        default:
            if (world_.redis.up()) stop_redis(step);
    }
}

void Fleet::stop_redis(Step const& step) {
    world_.truth.disturbed();
    world_.truth.unclean(world_.timeline.now() + step.lasts + recovery);
    world_.redis.stop();
    cut_all();
    world_.timeline.after(step.lasts, [this, step] { start_redis(step); });
}

void Fleet::start_redis(Step const& step) {
    switch (step.act) {
        case Act::restart:
            world_.redis.start_again();
            return world_.truth.refresh();
        case Act::restart_empty:
            world_.redis.start_empty();
            return world_.truth.data_lost();
        default:
            world_.redis.fail_over(copies_.at(step.at));
            world_.truth.went_back();
    }
}

/// As `rollcall serve` does.
void Fleet::sweep() {
    if (world_.redis.up()) {
        world_.truth.refresh();
        world_.redis.act([this](Contents& contents) {
            for (std::size_t i = 0; i < world_.scene.services; ++i) {
                contents.sweep(service_name(i));
            }
        });
        world_.truth.swept();
    }
    world_.timeline.after(sweep_period, [this] { sweep(); });
}

}  // namespace rollcall::test::fleet

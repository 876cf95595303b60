#include "model/fleet/scene.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

namespace rollcall::test::fleet {
namespace {

constexpr seconds beginning{20};
constexpr std::chrono::minutes lifetime{60};
// Long enough for every description to be read again.
constexpr std::chrono::minutes peace{13};

constexpr std::array<std::string_view, act_count> names{
    "announces",      "releases",   "describes",      "dies",
    "is removed",     "is drained", "loses its Hash", "is cut off",
    "is blocked",     "is slowed",  "garbage",        "CLIENT KILL",
    "nothing passes", "FLUSHALL",   "restart",        "restart without data",
    "fail-over"};

/// The same numbers with every standard library.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    std::int64_t below(std::int64_t limit) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
    }
    bool chance(int percent) { return below(100) < percent; }
    milliseconds time(milliseconds from, milliseconds to) {
        return milliseconds{from.count() + below((to - from).count())};
    }

private:
    std::mt19937_64 random_;
};

struct Odds {
    Act act;
    int share;
};
constexpr Odds odds[] = {{Act::announce, 10},     {Act::release, 10}, {Act::describe, 8},
                         {Act::die, 6},           {Act::remove, 5},   {Act::drain, 4},
                         {Act::evict_hash, 4},    {Act::cut, 14},     {Act::block, 10},
                         {Act::slow, 6},          {Act::garbage, 2},  {Act::kill_clients, 4},
                         {Act::block_all, 3},     {Act::flush, 5},    {Act::restart, 4},
                         {Act::restart_empty, 3}, {Act::fail_over, 4}};

Act draw_act(Draw& draw) {
    int all = 0;
    for (auto const& one : odds) all += one.share;
    auto at = draw.below(all);
    for (auto const& one : odds) {
        at -= one.share;
        if (at < 0) return one.act;
    }
    return Act::cut;
}

Step draw_step(Scene const& scene, Draw& draw) {
    Step step;
    step.act = draw_act(draw);
    bool const of_any = step.act == Act::cut || step.act == Act::block || step.act == Act::slow;
    auto const count = of_any ? scene.processes() : scene.owners.size();
    step.who = static_cast<std::uint8_t>(draw.below(static_cast<std::int64_t>(count)));
    step.what = static_cast<std::uint8_t>(draw.below(static_cast<std::int64_t>(scene.services)));
    // Some faults outlast a lease.
    auto const longest = draw.chance(10) ? seconds{150} : seconds{5};
    step.lasts = draw.time(milliseconds{50}, longest);
    step.behind = draw.time(milliseconds{100}, draw.chance(50) ? seconds{2} : seconds{40});
    return step;
}

milliseconds draw_skew(Draw& draw) {
    if (draw.chance(50)) return milliseconds{0};
    auto const most = draw.chance(80) ? milliseconds{2'000} : milliseconds{100'000};
    return draw.time(-most, most);
}

}  // namespace

Scene make_scene(std::uint64_t seed, Layout layout) {
    Draw draw{seed * 2 + (layout == Layout::cosky ? 1 : 0)};
    Scene scene;
    scene.seed = seed;
    scene.layout = layout;
    scene.services = static_cast<std::size_t>(2 + draw.below(3));
    auto const owners = 3 + draw.below(3);
    auto const peer = layout == Layout::streaming ? Kind::java_module : Kind::cosky_jvm;
    for (std::int64_t i = 0; i < owners; ++i) {
        scene.owners.push_back(i == 0 || draw.chance(70) ? Kind::announcer : peer);
        scene.skews.push_back(draw_skew(draw));
    }
    scene.lasts = lifetime;
    milliseconds at = beginning;
    bool close = false;
    while (at < lifetime - peace) {
        auto step = draw_step(scene, draw);
        step.at = at;
        // What comes soon after something else is often about the same instance.
        bool const of_owner = close && scene.steps.back().who < scene.owners.size();
        if (of_owner && draw.chance(50)) {
            step.who = scene.steps.back().who;
            step.what = scene.steps.back().what;
        }
        scene.steps.push_back(step);
        // Faults come alone, or close to each other.
        close = draw.chance(60);
        at += close ? draw.time(milliseconds{1}, milliseconds{3'000})
                    : draw.time(seconds{3}, seconds{180});
    }
    return scene;
}

milliseconds lease_of(Layout layout) {
    return layout == Layout::streaming ? seconds{90} : seconds{60};
}

std::string to_string(Layout layout) { return layout == Layout::streaming ? "streaming" : "cosky"; }

std::string in_seconds(milliseconds time) {
    auto const all = std::to_string(time.count() / 1'000);
    auto rest = std::to_string(time.count() % 1'000);
    rest.insert(0, 3 - std::min<std::size_t>(3, rest.size()), '0');
    return all + '.' + rest + " s";
}

std::string to_string(Step const& step) {
    std::string const name{names.at(static_cast<std::size_t>(step.act))};
    auto const service = " s" + std::to_string(step.what);
    std::string text;
    if (step.act <= Act::describe) {
        text = 'p' + std::to_string(step.who) + ' ' + name + service;
    } else if (step.act == Act::remove || step.act == Act::drain || step.act == Act::evict_hash) {
        text = "p" + std::to_string(step.who) + " of" + service + ' ' + name;
    } else if (step.act == Act::garbage) {
        text = name + " about" + service;
    } else if (step.act >= Act::kill_clients) {
        text = name;
    } else {
        text = 'p' + std::to_string(step.who) + ' ' + name;
    }
    bool const lasts = step.act == Act::die || step.act == Act::drain || step.act == Act::block ||
                       step.act == Act::slow || step.act == Act::block_all ||
                       step.act >= Act::restart;
    if (lasts) text += " for " + in_seconds(step.lasts);
    if (step.act == Act::fail_over) text += ", to what was " + in_seconds(step.behind) + " before";
    return in_seconds(step.at) + "  " + text;
}

}  // namespace rollcall::test::fleet

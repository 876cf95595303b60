#include "model/feed/search.hpp"

#include <deque>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/feed/world.hpp"

namespace rollcall::test::feed {
namespace {

// Within a grace that begins when the connection is back, with the reads that show it.
constexpr milliseconds quiet_end = 2 * lease + 4 * pause;
constexpr std::size_t most_quiet_steps = 1'000;

class Search {
public:
    explicit Search(Scene const& scene) : scene_(scene) {}

    SearchReport run();
    SearchReport wander(std::size_t walks, std::uint32_t seed);

private:
    struct Found {
        std::uint64_t parent = 0;
        Step step;
    };
    struct Waiting {
        World world;
        std::uint64_t fingerprint;
        std::size_t depth;
    };

    /// False: something is wrong.
    bool follow(Waiting const& from, Step step);
    bool end_quietly(World world, std::uint64_t fingerprint);
    std::string quiet_way(World& world, std::vector<Step>& steps,
                          std::vector<std::pair<std::uint64_t, Time>>& passed);
    bool walk(World world, std::minstd_rand& random);
    void fail(std::string wrong, std::uint64_t at, std::vector<Step> const& then);
    void fail(std::string wrong, std::vector<Step> const& way);

    Scene const& scene_;
    SearchReport report_;
    std::unordered_map<std::uint64_t, Found> found_;
    // States from which the quiet end is good, and how long it takes.
    std::unordered_map<std::uint64_t, milliseconds> good_;
    std::deque<Waiting> waiting_;
    std::vector<Step> steps_;
};

SearchReport Search::run() {
    World const first{scene_};
    auto const fingerprint = first.fingerprint();
    found_.emplace(fingerprint, Found{});
    if (!end_quietly(first, fingerprint)) return report_;
    waiting_.push_back({first, fingerprint, 0});
    while (!waiting_.empty()) {
        auto const from = std::move(waiting_.front());
        waiting_.pop_front();
        report_.depth = from.depth;
        if (from.depth == scene_.depth || found_.size() >= scene_.states) break;
        steps_.clear();
        from.world.list_steps(steps_);
        for (auto const step : steps_) {
            if (!follow(from, step)) return report_;
        }
    }
    report_.states = found_.size();
    report_.exhausted = waiting_.empty();
    return report_;
}

bool Search::follow(Waiting const& from, Step step) {
    ++report_.transitions;
    Waiting next{from.world, 0, from.depth + 1};
    auto wrong = next.world.take(step);
    if (!wrong.empty()) {
        fail(std::move(wrong), from.fingerprint, {step});
        return false;
    }
    next.fingerprint = next.world.fingerprint();
    if (!found_.emplace(next.fingerprint, Found{from.fingerprint, step}).second) return true;
    if (!end_quietly(next.world, next.fingerprint)) return false;
    waiting_.push_back(std::move(next));
    return true;
}

bool Search::end_quietly(World world, std::uint64_t fingerprint) {
    std::vector<Step> steps;
    std::vector<std::pair<std::uint64_t, Time>> passed;
    auto wrong = quiet_way(world, steps, passed);
    if (wrong.empty()) {
        auto const known = good_.find(world.fingerprint());
        auto const end = world.now() + (known == good_.end() ? milliseconds{0} : known->second);
        for (auto const& [at, time] : passed) {
            auto const took = std::chrono::duration_cast<milliseconds>(end - time);
            if (took > quiet_end) wrong = "it takes too long until all is known";
            good_.emplace(at, took);
        }
        good_.emplace(world.fingerprint(), milliseconds{0});
    }
    if (wrong.empty()) return true;
    fail("in the quiet end: " + wrong, fingerprint, steps);
    return false;
}

/// To where all is known, or to a state from which that is known to be reached.
std::string Search::quiet_way(World& world, std::vector<Step>& steps,
                              std::vector<std::pair<std::uint64_t, Time>>& passed) {
    auto const begin = world.now();
    while (true) {
        auto const fingerprint = world.fingerprint();
        if (good_.contains(fingerprint)) return {};
        bool const rest = world.at_rest();
        auto const incomplete = world.incomplete();
        if (rest && incomplete.empty()) return {};
        if (world.now() - begin > quiet_end) return incomplete.empty() ? "no rest" : incomplete;
        if (steps.size() > most_quiet_steps) return "no end of steps";
        passed.emplace_back(fingerprint, world.now());
        steps.push_back(world.quiet_step());
        auto wrong = world.take(steps.back());
        if (!wrong.empty()) return wrong;
    }
}

void Search::fail(std::string wrong, std::uint64_t at, std::vector<Step> const& then) {
    std::vector<Step> way;
    for (auto found = found_.at(at); found.parent != 0; found = found_.at(found.parent)) {
        way.insert(way.begin(), found.step);
    }
    way.insert(way.end(), then.begin(), then.end());
    fail(std::move(wrong), way);
    report_.states = found_.size();
}

void Search::fail(std::string wrong, std::vector<Step> const& way) {
    World world{scene_};
    auto const begin = world.now();
    for (auto const step : way) {
        world.take(step);
        auto const at_ms = std::chrono::duration_cast<milliseconds>(world.now() - begin).count();
        report_.trace += "  " + std::to_string(at_ms) + " ms: " + to_string(step) + '\n';
    }
    report_.wrong = std::move(wrong);
}

SearchReport Search::wander(std::size_t walks, std::uint32_t seed) {
    World const first{scene_};
    std::minstd_rand random{seed};
    for (std::size_t i = 0; i < walks; ++i) {
        if (!walk(first, random)) break;
    }
    report_.states = good_.size();
    report_.depth = scene_.depth;
    return report_;
}

bool Search::walk(World world, std::minstd_rand& random) {
    std::vector<Step> way;
    std::string wrong;
    while (wrong.empty() && way.size() < scene_.depth) {
        steps_.clear();
        world.list_steps(steps_);
        way.push_back(steps_.at(random() % steps_.size()));
        wrong = world.take(way.back());
        ++report_.transitions;
    }
    std::vector<std::pair<std::uint64_t, Time>> passed;
    if (wrong.empty()) wrong = quiet_way(world, way, passed);
    if (wrong.empty()) {
        for (auto const& [at, time] : passed) good_.emplace(at, milliseconds{0});
        return true;
    }
    fail(std::move(wrong), way);
    return false;
}

}  // namespace

SearchReport search(Scene const& scene) { return Search{scene}.run(); }

SearchReport wander(Scene const& scene, std::size_t walks, std::uint32_t seed) {
    return Search{scene}.wander(walks, seed);
}

}  // namespace rollcall::test::feed

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/fleet/fleet.hpp"

/// `fleet_simulation SEEDS [FIRST]` runs fleets of both layouts on virtual time, an hour for each
/// seed and layout.
namespace rollcall::test::fleet {
namespace {

constexpr std::size_t most_lines = 80;

struct Sum {
    std::mutex mutex;
    Figures figures;
    std::uint64_t events = 0;
    milliseconds lasted{0};
    std::optional<Scene> failed;

    void add(Scene const& scene, Report const& report) {
        std::lock_guard const lock{mutex};
        figures.hidden = std::max(figures.hidden, report.figures.hidden);
        figures.lingering = std::max(figures.lingering, report.figures.lingering);
        figures.unregistered = std::max(figures.unregistered, report.figures.unregistered);
        figures.checks += report.figures.checks;
        events += report.events;
        lasted += report.lasted;
        bool const first = !failed || scene.seed < failed->seed;
        if (!report.wrong.empty() && first) failed = scene;
    }
};

void run_all(std::uint64_t first, std::uint64_t count, Sum& sum) {
    std::atomic<std::uint64_t> next{0};
    auto const work = [&] {
        for (auto i = next++; i < 2 * count; i = next++) {
            auto const layout = i % 2 == 0 ? Layout::streaming : Layout::cosky;
            auto const scene = make_scene(first + i / 2, layout);
            sum.add(scene, run(scene));
            std::lock_guard const lock{sum.mutex};
            if (sum.failed) return;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(work);
    for (auto& thread : threads) thread.join();
}

std::string last_lines(std::string const& text, std::size_t count) {
    auto at = text.size();
    for (; at > 0; --at) {
        if (text[at - 1] == '\n' && count-- == 0) break;
    }
    return text.substr(at);
}

void explain(Scene const& scene) {
    auto const shrunk = shrink(scene);
    std::cout << "seed " << scene.seed << ", layout " << to_string(scene.layout) << ": "
              << shrunk.report.wrong << "\nof " << scene.steps.size() << " steps these "
              << shrunk.scene.steps.size() << " are enough (" << shrunk.runs << " runs):\n";
    for (auto const& step : shrunk.scene.steps) std::cout << "  " << to_string(step) << '\n';
    std::cout << "the end of what happens then:\n"
              << last_lines(shrunk.report.trace, most_lines)
              << "replay: ./dev chaos --simulate 1 --seed " << scene.seed << '\n';
}

int simulate(std::uint64_t seeds, std::uint64_t first) {
    Sum sum;
    auto const begun = std::chrono::steady_clock::now();
    run_all(first, seeds, sum);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
    using Hours = std::chrono::duration<double, std::ratio<3'600>>;
    auto const hours = Hours{sum.lasted}.count();
    std::cout << hours << " fleet-hours in " << took.count() << " s, " << hours / took.count() * 60
              << " a minute; " << sum.events << " events, all looked at; at most: hidden "
              << in_seconds(sum.figures.hidden) << ", lingering "
              << in_seconds(sum.figures.lingering) << ", unregistered "
              << in_seconds(sum.figures.unregistered) << '\n';
    if (!sum.failed) return EXIT_SUCCESS;
    explain(*sum.failed);
    return EXIT_FAILURE;
}

}  // namespace
}  // namespace rollcall::test::fleet

/// Without SEEDS it runs its tests.
int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (count < 2) return RUN_ALL_TESTS();
    auto const number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
    auto const seeds = number(1);
    auto const first = count > 2 ? number(2) : 1;
    if (seeds == 0 || first == 0) {
        std::cerr << "usage: fleet_simulation SEEDS [FIRST]\n";
        return 2;
    }
    return rollcall::test::fleet::simulate(seeds, first);
}

#include "load/rival.hpp"

#include <algorithm>
#include <utility>

#include "common/statistics.hpp"

namespace rollcall::bench {
namespace {

constexpr std::size_t finalists = 3;
constexpr std::size_t trials = 3;

}  // namespace

Rival::Rival(Stage& stage, Command command, Effort const& effort)
    : stage_(stage), command_(std::move(command)), effort_(effort) {
    if (effort_.brief) {
        candidates_.push_back({{50, 16}});
    } else {
        try_all();
    }
}

void Rival::try_all() {
    for (auto const& pipelining : pipelinings()) candidates_.push_back({pipelining});
    for (std::size_t trial = 0; trial < trials; ++trial) {
        for (auto& candidate : candidates_) run(candidate, effort_.operations / 4);
    }
    std::sort(candidates_.begin(), candidates_.end(), [](auto const& a, auto const& b) {
        return median(a.series.per_second) > median(b.series.per_second);
    });
    candidates_.resize(finalists);
    for (auto& candidate : candidates_) candidate.series = {};
}

void Rival::run(Candidate& candidate, std::size_t count) {
    RivalRun run;
    auto lap = stage_.measure([&] {
        run = run_redis_benchmark(stage_.server().socket(), candidate.pipelining, count,
                                  Stage::instance_count, command_);
    });
    // Its own clock leaves out its start.
    lap.time = std::chrono::duration<double>{static_cast<double>(run.commands) / run.per_second};
    lap.client_cpu = run.cpu * run.commands;
    candidate.series.add(lap, run.commands);
}

void Rival::repeat() {
    for (auto& candidate : candidates_) run(candidate, effort_.operations);
}

Rival::Candidate const& Rival::best_candidate() const {
    return *std::max_element(candidates_.begin(), candidates_.end(),
                             [](auto const& a, auto const& b) {
                                 return median(a.series.per_second) < median(b.series.per_second);
                             });
}

Series const& Rival::best() const { return best_candidate().series; }

std::string Rival::description() const {
    return "redis-benchmark " + best_candidate().pipelining.text();
}

}  // namespace rollcall::bench

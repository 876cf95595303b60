// A choice by each balancer of a handle, on top of the read: over a snapshot that is there, by one
// thread or by two at once.

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "balance/candidates.hpp"
#include "balance/plan.hpp"
#include "laps.hpp"
#include "live_data.hpp"
#include "registry/live/instance_table.hpp"

namespace rollcall::bench {
namespace {

/// What a handle has, but for what is about Redis.
struct Chooser {
    explicit Chooser(Balancer const& balancer, std::size_t size)
        : plan(std::make_shared<balance::Plan const>(balance::Policy{.balancer = balancer},
                                                     std::make_shared<balance::Outliers>())),
          table(table_of(size)) {
        for (std::size_t i = 0; i < 1'000; ++i) keys.push_back("session-" + std::to_string(i));
    }

    balance::PlanPtr plan;
    live::InstanceTablePtr table;
    balance::Turns turns;
    std::vector<std::string> keys;
};

// What a handle does is a call into the library.
[[gnu::noinline]] ServiceInstance const* choose(Chooser& chooser, ChooseOptions const& options) {
    balance::Moment moment;
    chooser.plan->note_use();
    auto const* const found =
        chooser.table->candidates(chooser.plan)
            .choose(options, balance::thread_random(), moment, &chooser.turns);
    return found->instance;
}

[[gnu::noinline]] void call(Chooser& chooser) {
    balance::Moment moment;
    if (chooser.plan->measures()) moment.get();
    auto const& candidates = chooser.table->candidates(chooser.plan);
    auto const* const found =
        candidates.choose({}, balance::thread_random(), moment, &chooser.turns);
    found->stats->begin();
    std::optional<std::chrono::nanoseconds> latency;
    balance::Moment end;
    if (chooser.plan->measures()) latency = end.get() - moment.get();
    candidates.end_call(*found->stats, CallOutcome::succeeded, latency, end);
}

void choices(benchmark::State& state, Balancer const& balancer, std::size_t size,
             std::size_t threads) {
    Chooser chooser{balancer, size};
    bool const by_key = std::holds_alternative<ConsistentHash>(balancer);
    measure_laps(state, threads, [&](std::size_t, std::size_t turn) {
        ChooseOptions options;
        if (by_key) options.key = chooser.keys[turn % chooser.keys.size()];
        benchmark::DoNotOptimize(choose(chooser, options)->port);
    });
}

void calls(benchmark::State& state, Balancer const& balancer, std::size_t size,
           std::size_t threads) {
    Chooser chooser{balancer, size};
    measure_laps(state, threads, [&](std::size_t, std::size_t) { call(chooser); });
}

/// Candidates made anew, and from those before one instance came.
void prepare(benchmark::State& state, Balancer const& balancer, std::size_t size, bool merge) {
    auto const plan = std::make_shared<balance::Plan const>(balance::Policy{.balancer = balancer},
                                                            std::make_shared<balance::Outliers>());
    auto const before = table_of(size);
    (void)before->candidates(plan);
    for (auto _ : state) {
        state.PauseTiming();
        auto const table = before->put(live::make_record(numbered_instance(size)));
        state.ResumeTiming();
        if (merge) {
            table->prepare_candidates(plan, *before);
        } else {
            benchmark::DoNotOptimize(&table->candidates(plan));
        }
    }
}

std::string words(Balancer const& balancer) {
    std::string text{name(balancer)};
    std::replace(text.begin(), text.end(), '-', '_');
    // The designs have balancers of these names.
    bool const taken = std::holds_alternative<WeightedRandom>(balancer) ||
                       std::holds_alternative<ConsistentHash>(balancer);
    return taken ? "handle." + text : text;
}

bool const added = [] {
    for (Balancer const& balancer :
         {Balancer{WeightedRandom{}}, Balancer{RoundRobin{}}, Balancer{LeastOutstanding{}},
          Balancer{LowestLatency{}}, Balancer{ConsistentHash{}}}) {
        for (std::size_t const size : {10U, 100U, 1'000U}) {
            auto const by = words(balancer) + '_' + std::to_string(size);
            for (std::size_t const threads : {1U, 2U}) {
                auto const on = '_' + std::to_string(threads) + 't';
                benchmark::RegisterBenchmark(("choose." + by + on).c_str(), choices, balancer, size,
                                             threads)
                    ->Iterations(1)
                    ->UseManualTime();
                if (size == 100) {
                    benchmark::RegisterBenchmark(("call." + by + on).c_str(), calls, balancer, size,
                                                 threads)
                        ->Iterations(1)
                        ->UseManualTime();
                }
            }
        }
        for (bool const merge : {false, true}) {
            auto const how = merge ? std::string{"/one more"} : std::string{"/all"};
            benchmark::RegisterBenchmark(("prepare." + words(balancer) + "_1000" + how).c_str(),
                                         prepare, balancer, std::size_t{1'000}, merge);
        }
    }
    return true;
}();

}  // namespace
}  // namespace rollcall::bench

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "allocations.hpp"

namespace rollcall::bench {

/// What a call of something costs, on one thread or on two at once.
///
/// Two threads are hardly ever on two cores at once when a machine does other things, too, and then
/// nothing is contended. So each thread measures short laps, and counts those during which the
/// other was seen to get on; the median of these is the cost.
class Laps {
public:
    static constexpr std::size_t most_threads = 2;

    explicit Laps(std::size_t threads)
        : threads_(threads), start_(static_cast<std::ptrdiff_t>(threads)) {}

    /// Calls `operation(thread, turn)` over and over, with turns that count up.
    template <class Operation>
    void run(Operation const& operation) {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < threads_; ++i) {
            threads.emplace_back([&, i] { run_one(i, operation); });
        }
        for (auto& thread : threads) thread.join();
    }

    /// Mean of the threads' medians.
    double nanoseconds() const;
    double allocations() const { return own_[0].allocations; }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr std::size_t parts = 8;
    static constexpr std::chrono::microseconds lap{15};
    static constexpr std::chrono::milliseconds warm_up{3};
    static constexpr std::chrono::milliseconds usual{30};
    static constexpr std::chrono::milliseconds longest{300};
    static constexpr std::size_t enough = 200;

    struct alignas(64) Own {
        std::atomic<std::uint64_t> progress = 0;
        double allocations = 0;
        std::vector<double> laps;
    };

    static void pin(std::size_t thread);
    std::uint64_t progress_of_other(std::size_t thread) const {
        return own_[most_threads - 1 - thread].progress.load(std::memory_order_relaxed);
    }
    bool goes_on(Clock::time_point started, std::size_t counted) const {
        auto const elapsed = Clock::now() - started;
        return elapsed < usual || (counted < enough && elapsed < longest);
    }

    /// So many that a lap takes its time. Of a few tries the fastest counts: others were disturbed.
    template <class Part>
    static std::size_t calls_a_part(Part const& run_part) {
        for (std::size_t calls = 1;; calls *= 2) {
            auto fastest = Clock::duration::max();
            for (int i = 0; i < 5; ++i) {
                auto const before = Clock::now();
                run_part(calls);
                fastest = std::min(fastest, Clock::now() - before);
            }
            if (fastest >= lap / parts) return calls;
        }
    }

    template <class Operation>
    void run_one(std::size_t thread, Operation const& operation) {
        pin(thread);
        auto& own = own_[thread];
        own.laps.reserve(longest / lap + 1);
        std::size_t turn = 0;
        auto const run_part = [&](std::size_t calls) {
            for (std::size_t i = 0; i < calls; ++i) operation(thread, turn++);
            own.progress.fetch_add(1, std::memory_order_relaxed);
        };
        start_.arrive_and_wait();
        // The first calls are others: they fill caches and tables.
        for (auto const end = Clock::now() + warm_up; Clock::now() < end;) run_part(100);
        auto const calls = calls_a_part(run_part);
        auto const started = Clock::now();
        auto const first_turn = turn;
        auto const allocated = bench::allocations();
        while (goes_on(started, own.laps.size()) && own.laps.size() < own.laps.capacity()) {
            auto const other = progress_of_other(thread);
            auto const before = Clock::now();
            for (std::size_t part = 0; part < parts; ++part) run_part(calls);
            std::chrono::duration<double, std::nano> const taken = Clock::now() - before;
            if (threads_ > 1 && progress_of_other(thread) < other + parts / 2) continue;
            own.laps.push_back(taken.count() / static_cast<double>(parts * calls));
        }
        own.allocations = static_cast<double>(bench::allocations() - allocated) /
                          static_cast<double>(turn - first_turn);
    }

    std::size_t threads_;
    std::latch start_;
    std::array<Own, most_threads> own_;
};

/// The loop of a benchmark that measures laps; for `->Iterations(1)->UseManualTime()`.
template <class Operation>
void measure_laps(benchmark::State& state, std::size_t threads, Operation const& operation) {
    for (auto _ : state) {
        Laps laps{threads};
        laps.run(operation);
        state.SetIterationTime(laps.nanoseconds() / 1e9);
        state.counters["allocations"] = laps.allocations();
    }
}

}  // namespace rollcall::bench

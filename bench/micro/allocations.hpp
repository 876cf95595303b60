#pragma once

#include <benchmark/benchmark.h>
#include <cstdint>

namespace rollcall::bench {

/// Allocations of this thread so far.
std::uint64_t allocations() noexcept;

/// Counts the allocations of a benchmark's loop and gives them for each iteration.
class CountAllocations {
public:
    explicit CountAllocations(benchmark::State& state) : state_(state), before_(allocations()) {}
    ~CountAllocations() {
        state_.counters["allocations"] = benchmark::Counter(
            static_cast<double>(allocations() - before_), benchmark::Counter::kAvgIterations);
    }
    CountAllocations(CountAllocations const&) = delete;
    CountAllocations& operator=(CountAllocations const&) = delete;

private:
    benchmark::State& state_;
    std::uint64_t before_;
};

}  // namespace rollcall::bench

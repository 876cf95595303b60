// What users of the two designs have today, as algorithms: the programs themselves cannot be had
// from a package registry. Each stand-in does in C++ what its design describes, as well as can be
// done without changing the algorithm, so that the ratio is what the algorithm costs, not the
// language: a cached list that is copied and filtered for each reader; the ring of hashes made for
// each choice; round robin over weights in a locked map, by name.

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "balance/ring_hash.hpp"
#include "laps.hpp"
#include "live_data.hpp"

namespace rollcall::bench {
namespace {

constexpr std::string_view service = "payments";
constexpr std::uint32_t places = 128;

using InstancePtr = std::shared_ptr<ServiceInstance const>;
using Candidates = std::vector<InstancePtr>;

Candidates candidates(std::size_t count) {
    Candidates made;
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back(std::make_shared<ServiceInstance const>(numbered_instance(i)));
    }
    return made;
}

std::string unique_id(ServiceInstance const& instance) {
    return instance.service_name + ':' + instance.instance_id;
}

/// CoSky's cache: found by namespace and service; what has not expired goes into a new list.
class CopiedCache {
public:
    explicit CopiedCache(std::size_t count) {
        std::vector<Cached> cached;
        for (auto& instance : candidates(count)) {
            cached.push_back({std::move(instance), Clock::now() + std::chrono::hours{1}});
        }
        services_.emplace(key(), std::move(cached));
    }

    Candidates instances() const {
        std::shared_lock const lock{mutex_};
        auto const& cached = services_.at(key());
        auto const now = Clock::now();
        Candidates alive;
        alive.reserve(cached.size());
        for (auto const& each : cached) {
            if (each.expires >= now) alive.push_back(each.instance);
        }
        return alive;
    }

private:
    using Clock = std::chrono::system_clock;
    struct Cached {
        InstancePtr instance;
        Clock::time_point expires;
    };

    static std::string key() { return "cosky-{default}:" + std::string{service}; }

    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, std::vector<Cached>> services_;
};

void copy_and_filter(benchmark::State& state, std::size_t count, std::size_t threads) {
    CopiedCache const cache{count};
    measure_laps(state, threads,
                 [&](std::size_t, std::size_t) { benchmark::DoNotOptimize(cache.instances()); });
}

/// The Java module's consistent hash: all places of all candidates, for one look-up.
InstancePtr by_new_ring(Candidates const& from, std::string_view key) {
    std::map<std::uint64_t, std::size_t> ring;
    for (std::size_t i = 0; i < from.size(); ++i) {
        auto const id = unique_id(*from[i]);
        for (std::uint32_t place = 0; place < places; ++place) {
            ring.insert_or_assign(balance::ring_hash(id + '#' + std::to_string(place)), i);
        }
    }
    auto const found = ring.lower_bound(balance::ring_hash(key));
    return from[(found == ring.end() ? ring.begin() : found)->second];
}

void ring_for_each_choice(benchmark::State& state, std::size_t count) {
    auto const from = candidates(count);
    for (auto _ : state) benchmark::DoNotOptimize(by_new_ring(from, "user-42"));
}

/// The Java module's round robin: its current weights stand in a map of names, one turn at a time.
class LockedRoundRobin {
public:
    InstancePtr choose(Candidates const& from) {
        std::lock_guard const lock{mutex_};
        std::int64_t total = 0;
        std::int64_t* best = nullptr;
        InstancePtr chosen;
        for (auto const& each : from) {
            auto& current = currents_[unique_id(*each)];
            current += each->weight;
            total += each->weight;
            if (best != nullptr && current <= *best) continue;
            best = &current;
            chosen = each;
        }
        if (best != nullptr) *best -= total;
        return chosen;
    }

private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::int64_t> currents_;
};

/// On one thread: what several measure at a mutex is how the scheduler hands it over.
void locked_round_robin(benchmark::State& state, std::size_t count) {
    auto const from = candidates(count);
    LockedRoundRobin balancer;
    for (auto _ : state) benchmark::DoNotOptimize(balancer.choose(from));
}

auto* add(std::string const& what, std::size_t count, std::size_t threads, auto measured,
          auto... arguments) {
    auto const name =
        "stand-in." + what + '_' + std::to_string(count) + '_' + std::to_string(threads) + 't';
    return benchmark::RegisterBenchmark(name.c_str(), measured, count, arguments...);
}

bool const added = [] {
    for (std::size_t const count : {10U, 1000U}) {
        for (std::size_t const threads : {1U, 2U}) {
            add("copy_and_filter", count, threads, copy_and_filter, threads)
                ->Iterations(1)
                ->UseManualTime();
        }
        add("locked_round_robin", count, 1, locked_round_robin);
        add("ring_for_each_choice", count, 1, ring_for_each_choice);
    }
    return true;
}();

}  // namespace
}  // namespace rollcall::bench

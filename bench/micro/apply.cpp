// One change applied to a service and published; and a weighted choice from it.

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "balance/alias_table.hpp"
#include "balance/random.hpp"
#include "live_data.hpp"
#include "registry/live/snapshot_cell.hpp"

namespace rollcall::bench {
namespace {

/// An instance of the service with another weight, as it comes from a decoder.
ServiceInstance changed(std::vector<ServiceInstance> const& all, balance::Random& random) {
    auto instance = all[random() % all.size()];
    instance.weight = static_cast<int>(1 + random() % 10);
    return instance;
}

std::vector<ServiceInstance> descriptions(std::size_t size) {
    std::vector<ServiceInstance> all;
    for (std::size_t number = 0; number < size; ++number) all.push_back(numbered_instance(number));
    return all;
}

void apply(benchmark::State& state, std::size_t size) {
    auto const all = descriptions(size);
    live::SnapshotCell cell{"payments"};
    auto table = table_of(size);
    cell.publish(table);
    balance::Random random{1};
    CountAllocations const count{state};
    for (auto _ : state) {
        auto instance = changed(all, random);
        auto const* const before = table->find(instance.instance_id);
        table = table->put(live::make_record(std::move(instance), before->vitals));
        cell.publish(table);
    }
}
BENCHMARK_CAPTURE(apply, 1000, 1000)->Name("feed.apply_1000");
BENCHMARK_CAPTURE(apply, 10000, 10'000)->Name("feed.apply_10000");
BENCHMARK_CAPTURE(apply, 100000, 100'000)->Name("feed.apply_100000");

/// A hundred changes, published together: the cost of all.
void apply_many(benchmark::State& state, std::size_t size) {
    auto const all = descriptions(size);
    live::SnapshotCell cell{"payments"};
    auto table = table_of(size);
    balance::Random random{1};
    for (auto _ : state) {
        live::TableDraft draft{*table};
        for (int i = 0; i < 100; ++i) {
            auto instance = changed(all, random);
            auto const* const before = draft.find(instance.instance_id);
            draft.put(live::make_record(std::move(instance), before->vitals));
        }
        table = std::move(draft).finish();
        cell.publish(table);
    }
}
BENCHMARK_CAPTURE(apply_many, 10000, 10'000)->Name("feed.apply_10000/100 at once");

/// The usual way: a sorted vector of shared pointers is copied.
class PlainService {
public:
    explicit PlainService(std::size_t size, bool weighted) : weighted_(weighted) {
        Instances made(size);
        for (auto const number : shuffled_numbers(size)) {
            made[number] = std::make_shared<ServiceInstance const>(numbered_instance(number));
        }
        instances_ = std::make_shared<Instances const>(std::move(made));
    }

    void apply(ServiceInstance instance) {
        auto copy = std::make_shared<Instances>(*instances_);
        auto const at = std::lower_bound(
            copy->begin(), copy->end(), instance.instance_id,
            [](auto const& one, std::string_view id) { return one->instance_id < id; });
        *at = std::make_shared<ServiceInstance const>(std::move(instance));
        if (weighted_) {
            std::vector<std::uint64_t> weights;
            weights.reserve(copy->size());
            for (auto const& one : *copy)
                weights.push_back(static_cast<std::uint64_t>(one->weight));
            choice_ = balance::AliasTable{weights};
        }
        std::shared_ptr<Instances const> published = std::move(copy);
        std::lock_guard const lock{mutex_};
        instances_.swap(published);
    }

private:
    using Instances = std::vector<std::shared_ptr<ServiceInstance const>>;

    bool weighted_;
    std::mutex mutex_;
    std::shared_ptr<Instances const> instances_;
    balance::AliasTable choice_;
};

void apply_to_vector(benchmark::State& state, std::size_t size, bool weighted) {
    auto const all = descriptions(size);
    PlainService service{size, weighted};
    balance::Random random{1};
    for (auto _ : state) service.apply(changed(all, random));
}
BENCHMARK_CAPTURE(apply_to_vector, 1000, 1000, false)
    ->Name("feed.apply_1000 to a vector of shared_ptr");
BENCHMARK_CAPTURE(apply_to_vector, 10000, 10'000, false)
    ->Name("feed.apply_10000 to a vector of shared_ptr");
BENCHMARK_CAPTURE(apply_to_vector, 1000_weighted, 1000, true)
    ->Name("feed.apply_1000 to a vector of shared_ptr and an alias table");
BENCHMARK_CAPTURE(apply_to_vector, 10000_weighted, 10'000, true)
    ->Name("feed.apply_10000 to a vector of shared_ptr and an alias table");

void copy_pointers(benchmark::State& state, std::size_t size) {
    std::vector<std::uintptr_t> const from(size, 1);
    auto to = from;
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), from.size() * sizeof(std::uintptr_t));
        benchmark::ClobberMemory();
    }
}
BENCHMARK_CAPTURE(copy_pointers, 1000, 1000)->Name("yardstick/copy of 1000 pointers");
BENCHMARK_CAPTURE(copy_pointers, 10000, 10'000)->Name("yardstick/copy of 10000 pointers");
BENCHMARK_CAPTURE(copy_pointers, 100000, 100'000)->Name("yardstick/copy of 100000 pointers");

void iterate(benchmark::State& state) {
    live::SnapshotCell cell{"payments"};
    cell.publish(table_of(static_cast<std::size_t>(state.range(0))));
    auto const snapshot = cell.snapshot();
    for (auto _ : state) {
        int sum = 0;
        for (auto const& instance : snapshot) sum += instance.port;
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(iterate)->Name("snapshot/iterate")->ArgName("instances")->Arg(10'000);

void find(benchmark::State& state) {
    auto const size = static_cast<std::size_t>(state.range(0));
    auto const all = descriptions(size);
    live::SnapshotCell cell{"payments"};
    cell.publish(table_of(size));
    auto const snapshot = cell.snapshot();
    balance::Random random{1};
    CountAllocations const count{state};
    for (auto _ : state) {
        benchmark::DoNotOptimize(snapshot.find(all[random() % size].instance_id));
    }
}
BENCHMARK(find)->Name("snapshot/find")->ArgName("instances")->Arg(10)->Arg(1000)->Arg(10'000);

void choose(benchmark::State& state) {
    live::SnapshotCell cell{"payments"};
    cell.publish(table_of(static_cast<std::size_t>(state.range(0))));
    auto const snapshot = cell.snapshot();
    auto& random = balance::thread_random();
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(live::choose(snapshot, random));
}
BENCHMARK(choose)
    ->Name("choose/weighted")
    ->ArgName("instances")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10'000);

}  // namespace
}  // namespace rollcall::bench

// A snapshot of a service, by its handle and by its name, read by one thread or by two, while
// others change it or not. One operation takes the snapshot, looks at its revision and its first
// instance, and drops it. Without changes it is the public interface that is called, over a Redis
// of its own; with changes the cells behind it, so that their rate is what it is said to be.

#include <array>
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "laps.hpp"
#include "live_data.hpp"
#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"
#include "registry/live/name_index.hpp"
#include "registry/live/snapshot_cell.hpp"
#include "support/redis_server.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::bench {
namespace {

constexpr std::size_t instances = 10;
constexpr std::size_t services = 200;

std::vector<std::string> names() {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < services; ++i) {
        // 15 to 19 characters.
        made.push_back("orders-and-more" + (i == 0 ? std::string{} : '-' + std::to_string(i)));
    }
    return made;
}

/// The usual way: a lock that readers share, and instances that they share, too.
struct PlainSnapshot {
    std::uint64_t revision = 0;
    std::vector<std::shared_ptr<ServiceInstance const>> instances;
};

std::shared_ptr<PlainSnapshot const> plain_snapshot(std::uint64_t revision) {
    auto made = std::make_shared<PlainSnapshot>();
    made->revision = revision;
    for (std::size_t i = 0; i < instances; ++i) {
        made->instances.push_back(std::make_shared<ServiceInstance const>(numbered_instance(i)));
    }
    return made;
}

struct Plain {
    std::shared_mutex mutex;
    std::shared_ptr<PlainSnapshot const> one = plain_snapshot(1);
    std::unordered_map<std::string, std::shared_ptr<PlainSnapshot const>> by_name;

    Plain() {
        for (auto const& name : names()) by_name.emplace(name, plain_snapshot(1));
    }
    std::shared_ptr<PlainSnapshot const> get() {
        std::shared_lock const lock{mutex};
        return one;
    }
    std::shared_ptr<PlainSnapshot const> get(std::string const& name) {
        std::shared_lock const lock{mutex};
        auto const found = by_name.find(name);
        return found == by_name.end() ? nullptr : found->second;
    }
};

struct Ours {
    test::RedisServer const server;
    Client const client{server.url()};
    Registry const registry{client, streaming_layout()};

    Ours() {
        auto& core = *client.core();
        auto const port = streaming_layout().make_port()(client.core(), std::chrono::seconds{10});
        for (auto const& name : names()) {
            for (std::size_t i = 0; i < instances; ++i) {
                auto instance = numbered_instance(i);
                instance.service_name = name;
                core.run([&] { return port->register_instance(instance, core.deadline()); })
                    .value();
            }
            if (registry.instances(name).size() != instances) throw std::logic_error{name};
        }
    }
};

struct Cells {
    std::vector<std::shared_ptr<live::SnapshotCell>> cells;
    live::NameIndex index;

    Cells() {
        for (auto const& name : names()) {
            cells.push_back(std::make_shared<live::SnapshotCell>(name));
            cells.back()->publish(table_of(instances));
        }
        index.add(cells);
    }
};

// What a handle does is not in the header, and thus a call. So is the look-up.
[[gnu::noinline]] Snapshot read_by_handle(live::SnapshotCell const& cell) {
    return cell.snapshot();
}

void look_at(Snapshot const& snapshot) {
    benchmark::DoNotOptimize(snapshot.revision());
    benchmark::DoNotOptimize(snapshot.begin()->port);
}

void look_at(std::shared_ptr<PlainSnapshot const> const& snapshot) {
    benchmark::DoNotOptimize(snapshot->revision);
    benchmark::DoNotOptimize(snapshot->instances.front()->port);
}

/// Calls `change` so many times a second for as long as it lives.
class Changes {
public:
    template <class Change>
    Changes(int a_second, Change change) {
        if (a_second == 0) return;
        auto const pause = std::chrono::nanoseconds{std::chrono::seconds{1}} / a_second;
        thread_ = std::jthread{[pause, change](std::stop_token const& stop) mutable {
            auto next = std::chrono::steady_clock::now();
            while (!stop.stop_requested()) {
                change();
                std::this_thread::sleep_until(next += pause);
            }
        }};
    }

private:
    std::jthread thread_;
};

auto changes_of(live::SnapshotCell& cell) {
    return [&cell, table = table_of(instances), turn = std::size_t{0}]() mutable {
        table = table->put(live::make_record(numbered_instance(turn++ % instances)));
        cell.publish(table);
    };
}

void own_line(benchmark::State& state, std::size_t threads) {
    struct alignas(64) Line {
        std::atomic<std::uint64_t> count = 0;
    };
    std::array<Line, Laps::most_threads> lines;
    measure_laps(state, threads, [&](std::size_t thread, std::size_t) {
        benchmark::DoNotOptimize(lines[thread].count.fetch_add(1, std::memory_order_relaxed));
    });
}

void handle(benchmark::State& state, std::size_t threads) {
    Ours const ours;
    auto const service = ours.registry.service(names().front());
    measure_laps(state, threads, [&](std::size_t, std::size_t) { look_at(service.instances()); });
}

void changing_handle(benchmark::State& state, std::size_t threads, int updates) {
    Cells const ours;
    Changes const changes{updates, changes_of(*ours.cells[0])};
    measure_laps(state, threads,
                 [&](std::size_t, std::size_t) { look_at(read_by_handle(*ours.cells[0])); });
}

void plain_handle(benchmark::State& state, std::size_t threads, int updates) {
    Plain plain;
    Changes const changes{updates, [&, turn = std::uint64_t{1}]() mutable {
                              auto made = plain_snapshot(++turn);
                              std::unique_lock const lock{plain.mutex};
                              plain.one.swap(made);
                          }};
    measure_laps(state, threads, [&](std::size_t, std::size_t) { look_at(plain.get()); });
}

void by_name(benchmark::State& state, std::size_t threads, bool rotating) {
    Ours const ours;
    auto const keys = names();
    measure_laps(state, threads, [&](std::size_t, std::size_t turn) {
        look_at(ours.registry.instances(keys[rotating ? turn % services : 7]));
    });
}

void changing_by_name(benchmark::State& state, std::size_t threads, int updates) {
    Cells const ours;
    auto const keys = names();
    Changes const changes{updates, changes_of(*ours.cells[7])};
    measure_laps(state, threads,
                 [&](std::size_t, std::size_t) { look_at(*ours.index.instances(keys[7])); });
}

void plain_by_name(benchmark::State& state, std::size_t threads, bool rotating) {
    Plain plain;
    auto const keys = names();
    measure_laps(state, threads, [&](std::size_t, std::size_t turn) {
        look_at(plain.get(keys[rotating ? turn % services : 7]));
    });
}

void add(std::string const& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)
        ->Iterations(1)
        ->UseManualTime();
}

bool const added = [] {
    add("yardstick/increment of one's own", own_line, 1U);
    add("yardstick/increment of one's own, two threads", own_line, 2U);
    std::string const of_two = " by shared_mutex and shared_ptr";
    for (std::size_t const threads : {1U, 2U}) {
        auto const on = '_' + std::to_string(threads) + 't';
        add("read.handle" + on, handle, threads);
        add("read.handle" + on + "/100 updates", changing_handle, threads, 100);
        add("read.handle" + on + "/10000 updates", changing_handle, threads, 10'000);
        add("read.handle" + on + of_two, plain_handle, threads, 0);
        add("read.handle" + on + "/10000 updates" + of_two, plain_handle, threads, 10'000);
        add("read.name" + on, by_name, threads, false);
        add("read.name" + on + "/10000 updates", changing_by_name, threads, 10'000);
        add("read.name" + on + "/rotating", by_name, threads, true);
        add("read.name" + on + of_two, plain_by_name, threads, false);
        add("read.name" + on + "/rotating" + of_two, plain_by_name, threads, true);
    }
    return true;
}();

}  // namespace
}  // namespace rollcall::bench

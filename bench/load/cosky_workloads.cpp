#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/cases.hpp"
#include "load/series.hpp"
#include "load/threads.hpp"
#include "redis/request.hpp"

#include "rollcall/cosky/consistency_service_discovery.hpp"
#include "rollcall/cosky/service_registry.hpp"
#include "rollcall/registry.hpp"

// CoSky's own benchmark, in its two shapes: P as its figures were published in 2021, C as its
// program is today (spec 15). One instance, one client, threads that each wait for the reply to one
// operation before they begin the next. What is cached needs no reply; beside it the same read
// through a handle.

namespace rollcall::bench {
namespace {

using Clock = std::chrono::steady_clock;

enum class Workload { p, c };

constexpr std::array<std::size_t, 4> thread_counts{1, 10, 25, 50};
constexpr redis::Script empty_script{"empty", "return 1",
                                     "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"};

Task<Result<void>> exchange(Stage& stage, redis::Request const& request) {
    redis::Response response;
    auto const outcome = co_await stage.core().session().exec(request, response, stage.deadline());
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "measure the floor");
    co_return Result<void>{};
}

struct Operation {
    std::string name = {};
    std::function<void()> once = {};
    bool is_floor = false;  ///< What the client needs for a call that does nothing.
    std::size_t times = 1;  ///< That one call does it.
    bool asks_redis() const noexcept { return times == 1; }
};

/// So many at once take much longer than looking at the clock.
constexpr std::size_t cached_reads = 100;

class Operations {
public:
    Operations(Stage& stage, Workload workload)
        : stage_(stage),
          workload_(workload),
          registry_(stage.client()),
          discovery_(stage.client()),
          cached_(stage.client(), nullptr),  // Who uses what is none of the benchmark's.
          handle_(Registry{stage.client(), cosky_layout(cached_namespace)}.service(service_name)) {
        instance_.service_name = service_name;
        instance_.host = "127.0.0.1";
        instance_.port = 23'456;
        instance_.metadata = {{"from", "test"}};
        if (workload == Workload::c) {
            auto fixed = instance_;
            fixed.ephemeral = false;
            registry_.register_instance(cached_namespace, fixed);
        }
        instance_ = cosky::validated(instance_);
        ping_.push("PING");
        nothing_.push_script(empty_script, {}, {});
    }

    std::vector<Operation> all() {
        return {{"ping", [this] { ask(ping_); }, true},
                {"empty_script", [this] { ask(nothing_); }, true},
                {"register", [this] { must(registry_.register_instance(ns_, instance_)); }},
                {"deregister", [this] { deregister(); }},
                {"renew", [this] { must(registry_.renew(ns_, instance_)); }},
                {"get_instances",
                 [this] { must(discovery_.instances(read_ns_, service_name).size() == here()); }},
                {"get_services", [this] { must(discovery_.services(read_ns_).size() == here()); }},
                cached("cached.get_instances",
                       [this] { return cached_.instances(cached_namespace, service_name).size(); }),
                cached("cached.get_services",
                       [this] { return cached_.services(cached_namespace).size(); }),
                cached("handle.get_instances", [this] { return handle_.instances().size(); })};
    }

    /// What the operations find: the instance (C), or none (P), so that no deregistration has
    /// anything to do and the first renewal registers.
    void prepare() {
        if (workload_ == Workload::c) {
            registry_.register_instance(ns_, instance_);
        } else {
            registry_.deregister(ns_, instance_);
        }
    }

private:
    static constexpr char const* service_name = "1638572046";
    /// Whose contents nobody changes, so that nobody listens to what the writes publish.
    static constexpr char const* cached_namespace = "cached_svc";

    std::size_t here() const noexcept { return workload_ == Workload::c ? 1 : 0; }

    template <class Read>
    Operation cached(std::string name, Read read) const {
        auto const once = [this, read] {
            std::size_t found = 0;
            for (std::size_t i = 0; i < cached_reads; ++i) found += read();
            must(found == cached_reads * here());
        };
        return {std::move(name), once, false, cached_reads};
    }

    void ask(redis::Request const& request) {
        stage_.must_run([&] { return exchange(stage_, request); });
    }
    void deregister() {
        bool const removed = registry_.deregister(ns_, instance_);
        must(workload_ == Workload::c || !removed);
    }
    static void must(bool done) {
        if (!done) throw std::runtime_error{"an operation found what it should not"};
    }

    Stage& stage_;
    Workload workload_;
    std::string_view ns_ = workload_ == Workload::p ? "benchmark_svc" : "ben_svc";
    /// What the published run read was never written to.
    std::string_view read_ns_ = workload_ == Workload::p ? "benchmark_svc_dvy" : ns_;
    cosky::RedisServiceRegistry registry_;
    cosky::RedisServiceDiscovery discovery_;
    cosky::ConsistencyRedisServiceDiscovery cached_;
    Service handle_;
    ServiceInstance instance_;
    redis::Request ping_;
    redis::Request nothing_;
};

/// Returns how often.
std::size_t repeat(Operation const& operation, std::size_t threads,
                   std::chrono::duration<double> time) {
    std::atomic<std::size_t> done{0};
    auto const end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
    on_threads(threads, [&] {
        std::size_t own = 0;
        do {  // Once at least: a warm-up must have sent the script, however busy the machine is.
            operation.once();
            own += operation.times;
        } while (Clock::now() < end);
        done += own;
    });
    return done;
}

void add_figures(std::vector<Figure>& all, std::string const& name, Operation const& operation,
                 Series const& series, Series const& ping) {
    constexpr char const* floor = "PING by the same client";
    all.push_back(compare(name, series.per_second, "1/s", ping.per_second, floor));
    if (operation.is_floor || !operation.asks_redis()) return;
    all.push_back(compare(name + ".redis_cpu", series.redis_cpu, "us", ping.redis_cpu,
                          std::string{"Redis CPU of "} + floor));
    all.push_back(client_cpu(name, series));
}

std::vector<Figure> measure(Stage& stage, Effort const& effort, Workload workload) {
    std::string const prefix = workload == Workload::p ? "workload_p." : "workload_c.";
    Operations operations{stage, workload};
    auto const all = operations.all();
    std::vector<Figure> figures;
    for (auto const threads : thread_counts) {
        std::vector<Series> series(all.size());
        for (std::size_t lap = 0; lap < effort.laps; ++lap) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                operations.prepare();
                if (lap == 0) repeat(all[i], threads, effort.lap);  // Warms up.
                std::size_t done = 0;
                auto const cost =
                    stage.measure([&] { done = repeat(all[i], threads, effort.lap); });
                series[i].add(cost, done);
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            add_figures(figures, prefix + all[i].name + '.' + std::to_string(threads), all[i],
                        series[i], series.front());
        }
    }
    return figures;
}

}  // namespace

std::vector<Figure> measure_workload_p(Stage& stage, Effort const& effort) {
    return measure(stage, effort, Workload::p);
}

std::vector<Figure> measure_workload_c(Stage& stage, Effort const& effort) {
    return measure(stage, effort, Workload::c);
}

}  // namespace rollcall::bench

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "load/cases.hpp"
#include "load/rival.hpp"
#include "load/series.hpp"

#include "rollcall/streaming/service_provider.hpp"

namespace rollcall::bench {
namespace {

constexpr std::size_t batch_size = 250;       // Heartbeats in one call.
constexpr std::size_t batches_in_flight = 4;  // No more than 1,000 heartbeats.
constexpr std::size_t probe = 7;              // The instance whose script call is captured.

Task<void> register_some(Stage& stage, Tickets& tickets) {
    auto instance = stage.instance(0);
    while (tickets.take()) {
        instance.instance_id = stage.ids()[tickets.draw(Stage::instance_count)].id;
        auto const done = co_await stage.port().register_instance(instance, stage.deadline());
        if (!done.value().announced) throw std::runtime_error{"registered, not announced"};
    }
}

Task<void> heartbeat_some(Stage& stage, std::size_t batch, Tickets& tickets) {
    std::span<InstanceId const> const all{stage.ids()};
    while (tickets.take()) {
        auto const ids = all.subspan(tickets.draw(all.size() - batch + 1), batch);
        auto const done = co_await stage.port().heartbeat(ids, stage.deadline());
        for (auto const liveness : done.value()) {
            if (liveness != Liveness::alive) throw std::runtime_error{"an instance is gone"};
        }
    }
}

void register_many(Stage& stage, std::size_t count) {
    Tickets tickets{count};
    stage.run(Stage::in_flight, tickets,
              [&](Tickets& shared) { return register_some(stage, shared); });
}

void heartbeat_many(Stage& stage, std::size_t calls, std::size_t batch, std::size_t at_a_time) {
    Tickets tickets{calls};
    stage.run(at_a_time, tickets,
              [&](Tickets& shared) { return heartbeat_some(stage, batch, shared); });
}

/// As an application does: one thread that waits for each batch.
void heartbeat_by_provider(streaming::RedisServiceProvider& provider,
                           std::vector<ServiceInstance> const& instances, std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) {
        for (auto const result : provider.batch_send_heartbeats(instances)) {
            if (result != streaming::HeartbeatResult::alive) {
                throw std::runtime_error{"an instance is gone"};
            }
        }
    }
}

/// The rate of `ours` against the rival's, then what an operation costs Redis and the client.
std::vector<Figure> figures(std::string const& name, Series const& ours, Rival const& rival,
                            std::optional<double> at_least, std::string const& what) {
    auto const& theirs = rival.best();
    auto const them = rival.description() + ", " + what;
    auto rate = compare(name, ours.per_second, "1/s", theirs.per_second, them);
    rate.at_least = at_least;
    auto redis = compare(name + ".redis_cpu", ours.redis_cpu, "us", theirs.redis_cpu,
                         "Redis CPU under " + them);
    return {std::move(rate), std::move(redis), client_cpu(name, ours)};
}

void append(std::vector<Figure>& all, std::vector<Figure> const& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<Figure> measure_register(Stage& stage, Effort const& effort) {
    stage.fill();
    auto command = stage.captured_script_call(probe, [&] {
        auto const instance = stage.instance(probe);
        stage.must_run([&] { return stage.port().register_instance(instance, stage.deadline()); });
    });
    Rival rival{stage, std::move(command), effort};
    Series ours;
    for (std::size_t i = 0; i < effort.repetitions; ++i) {
        ours.add(stage.measure([&] { register_many(stage, effort.operations); }),
                 effort.operations);
        rival.repeat();
    }
    return figures("streaming.register", ours, rival, 0.7, "the same script and arguments");
}

std::vector<Figure> measure_heartbeats(Stage& stage, Effort const& effort) {
    stage.fill();
    std::span<InstanceId const> const one{&stage.ids()[probe], 1};
    auto const beat = [&] {
        stage.must_run([&] { return stage.port().heartbeat(one, stage.deadline()); });
    };
    beat();  // Makes the script known to Redis.
    Rival rival{stage, stage.captured_script_call(probe, beat), effort};
    streaming::HeartbeatConfig always;
    always.heartbeat_interval = std::chrono::milliseconds::zero();
    streaming::ServiceProviderConfig config;
    config.cleanup_delay = std::chrono::hours{1};  // Housekeeping is not what is measured.
    streaming::RedisServiceProvider provider{stage.client(), config, always};
    provider.start();
    std::vector<ServiceInstance> instances;
    instances.reserve(Stage::instance_count);
    for (std::size_t i = 0; i < Stage::instance_count; ++i) instances.push_back(stage.instance(i));

    Series single;
    Series batched;
    Series provided;
    auto const lap = [&](Series& series, std::size_t operations, auto const& work) {
        series.add(stage.measure(work), operations);
    };
    auto const operations = effort.operations;
    auto const batches = operations * 2 / batch_size;
    auto const calls = operations * 2 / Stage::instance_count;
    for (std::size_t i = 0; i < effort.repetitions; ++i) {
        lap(single, operations, [&] { heartbeat_many(stage, operations, 1, Stage::in_flight); });
        rival.repeat();
        lap(batched, batches * batch_size,
            [&] { heartbeat_many(stage, batches, batch_size, batches_in_flight); });
        lap(provided, calls * Stage::instance_count,
            [&] { heartbeat_by_provider(provider, instances, calls); });
    }
    std::string const one_a_call = "the same script, one heartbeat a call";
    auto all = figures("streaming.heartbeat", single, rival, 0.75, "the same script and arguments");
    append(all, figures("streaming.heartbeat_batch", batched, rival, 1.35, one_a_call));
    append(all, figures("streaming.provider.heartbeat_batch", provided, rival, {}, one_a_call));
    return all;
}

}  // namespace rollcall::bench

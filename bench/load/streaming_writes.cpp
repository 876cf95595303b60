#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "load/writes.hpp"

#include "rollcall/streaming/service_provider.hpp"

namespace rollcall::bench {
namespace {

Task<void> register_some(Stage& stage, Tickets& tickets) {
    auto instance = stage.instance(0);
    while (tickets.take()) {
        instance.instance_id = stage.ids()[tickets.draw(Stage::instance_count)].id;
        auto const done = co_await stage.port().register_instance(instance, stage.deadline());
        if (!done.value().announced) throw std::runtime_error{"registered, not announced"};
    }
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

}  // namespace

std::vector<Figure> measure_streaming_register(Stage& stage, Effort const& effort) {
    stage.fill();
    auto command = stage.captured_script_call(probe, [&] {
        auto const instance = stage.instance(probe);
        stage.must_run([&] { return stage.port().register_instance(instance, stage.deadline()); });
    });
    Rival rival{stage, std::move(command), effort};
    Way way;
    way.name = "streaming.register";
    way.operations = effort.operations;
    way.lap = [&] {
        stage.run(Stage::in_flight, effort.operations,
                  [&](Tickets& tickets) { return register_some(stage, tickets); });
    };
    way.rival_does = "the same script and arguments";
    way.at_least = 0.7;
    return measure_beside(stage, rival, effort, {way});
}

std::vector<Figure> measure_streaming_heartbeat(Stage& stage, Effort const& effort) {
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

    Way single;
    single.name = "streaming.heartbeat";
    single.operations = effort.operations;
    single.lap = [&] { heartbeat_many(stage, effort.operations, 1, Stage::in_flight); };
    single.rival_does = "the same script and arguments";
    single.at_least = 0.75;
    // As the Java module does it, and most others: a heartbeat waits for the one before it.
    Way one_by_one;
    one_by_one.name = "streaming.heartbeat_one_by_one";
    one_by_one.operations = effort.operations / 10;
    one_by_one.lap = [&] { heartbeat_many(stage, effort.operations / 10, 1, 1); };
    one_by_one.rival_does = single.rival_does;
    auto const batched = batched_heartbeats(stage, effort, "streaming.heartbeat_batch", 1.35);
    Way provided;
    auto const calls = effort.operations * 2 / Stage::instance_count;
    provided.name = "streaming.provider.heartbeat_batch";
    provided.operations = calls * Stage::instance_count;
    provided.lap = [&] { heartbeat_by_provider(provider, instances, calls); };
    provided.rival_does = batched.rival_does;
    return measure_beside(stage, rival, effort, {single, batched, provided, one_by_one});
}

}  // namespace rollcall::bench

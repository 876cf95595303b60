#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/renewal_tolerance.hpp"
#include "load/writes.hpp"

#include "rollcall/cosky/config.hpp"

namespace rollcall::bench {
namespace {

using cosky::DiscoveryRedisScripts;

// What is registered and renewed is what `RedisServiceRegistry` sends, without a thread that waits
// for each answer.

cosky::RegisterCall register_call() {
    cosky::RegisterCall call;
    call.ns = cosky_namespace;
    return call;
}

cosky::RenewCall renew_call(InstanceId id) {
    cosky::RenewCall call;
    call.ns = cosky_namespace;
    call.tolerance = cosky::renewal_tolerance(call.lease, cosky::RenewProperties{}.period);
    call.ids.push_back(std::move(id));
    return call;
}

Task<void> register_some(Stage& stage, DiscoveryRedisScripts const& scripts, Tickets& tickets) {
    auto instance = stage.instance(0);
    auto call = register_call();
    while (tickets.take()) {
        instance.host = digits_of(tickets.draw(Stage::instance_count));
        call.instance = cosky::validated(instance);
        auto const done = co_await scripts.registry_register(call, stage.deadline());
        if (!done.value().announced) throw std::runtime_error{"registered, not announced"};
    }
}

Task<void> renew_some(Stage& stage, DiscoveryRedisScripts const& scripts, Tickets& tickets) {
    auto call = renew_call({});
    while (tickets.take()) {
        call.ids.front() = stage.ids()[tickets.draw(Stage::instance_count)];
        auto const found = co_await scripts.registry_renew(call, stage.deadline());
        if (found.value() != cosky::Lease::renewed) throw std::runtime_error{"not renewed"};
    }
}

}  // namespace

std::vector<Figure> measure_cosky_register(Stage& stage, Effort const& effort) {
    stage.fill();
    DiscoveryRedisScripts const scripts{stage.client().core()};
    auto command = stage.captured_script_call(probe, [&] {
        auto call = register_call();
        call.instance = cosky::validated(stage.instance(probe));
        stage.must_run([&] { return scripts.registry_register(call, stage.deadline()); });
    });
    Rival rival{stage, std::move(command), effort};
    Way way;
    way.name = "cosky.register";
    way.operations = effort.operations;
    way.lap = [&] {
        stage.run(Stage::in_flight, effort.operations,
                  [&](Tickets& tickets) { return register_some(stage, scripts, tickets); });
    };
    way.rival_does = "the same script and arguments";
    way.at_least = 0.7;
    return measure_beside(stage, rival, effort, {way});
}

std::vector<Figure> measure_cosky_renew(Stage& stage, Effort const& effort) {
    stage.fill();
    DiscoveryRedisScripts const scripts{stage.client().core()};
    auto const call = renew_call(stage.ids()[probe]);
    auto const renew = [&] {
        stage.must_run([&] { return scripts.registry_renew(call, stage.deadline()); });
    };
    renew();  // Makes the script known to Redis.
    Rival rival{stage, stage.captured_script_call(probe, renew), effort};
    Way single;
    single.name = "cosky.renew";
    single.operations = effort.operations;
    single.lap = [&] {
        stage.run(Stage::in_flight, effort.operations,
                  [&](Tickets& tickets) { return renew_some(stage, scripts, tickets); });
    };
    single.rival_does = "the same script and arguments";
    single.at_least = 0.75;
    auto batched = batched_heartbeats(stage, effort, "cosky.renew_batch", 1.5);
    batched.rival_does = "the script for one renewal";
    return measure_beside(stage, rival, effort, {single, batched});
}

}  // namespace rollcall::bench

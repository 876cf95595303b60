// What is written for each call: keys, filters, documents, messages; and the heartbeat decision.

#include <benchmark/benchmark.h>
#include <chrono>
#include <string>
#include <string_view>

#include "allocations.hpp"
#include "streaming/event_text.hpp"
#include "streaming/filter_document.hpp"

#include "rollcall/streaming/heartbeat_state_manager.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::bench {
namespace {

using namespace std::chrono_literals;
using namespace streaming;

constexpr std::string_view service = "payments";
constexpr std::string_view id = "payments-10.0.12.34_8080";

ServiceInstance example() {
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id;
    instance.host = "10.0.12.34";
    instance.port = 8080;
    instance.metadata = {{"commit", "9f8e7d6c5b4a"}, {"path", "http://10.0.12.34:8080/api"},
                         {"region", "eu-central-1"}, {"team", "payments"},
                         {"version", "2.14.0"},      {"zone", "eu-central-1b"}};
    return instance;
}

void build_key(benchmark::State& state) {
    RegistryKeys const keys{"redis_streaming_registry"};
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(keys.instance(service, id));
}
BENCHMARK(build_key)->Name("key/instance");

void build_key_by_sums(benchmark::State& state) {
    std::string const prefix = "redis_streaming_registry";
    CountAllocations const count{state};
    for (auto _ : state) {
        benchmark::DoNotOptimize(prefix + ":services:" + std::string{service} +
                                 ":instance:" + std::string{id});
    }
}
BENCHMARK(build_key_by_sums)->Name("key/instance by sums of strings");

void validate_name(benchmark::State& state) {
    CountAllocations const count{state};
    for (auto _ : state) {
        benchmark::DoNotOptimize(RegistryKeys::validate_and_sanitize_instance_id(id));
    }
}
BENCHMARK(validate_name)->Name("name/validate and sanitise");

void parse_filter(benchmark::State& state) {
    constexpr std::string_view keys[] = {"region", "weight:>=", "my:field:==", "a:=~"};
    std::size_t next = 0;
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(parse_filter_key(keys[next++ % 4]));
}
BENCHMARK(parse_filter)->Name("filter/parse a key");

void write_filters(benchmark::State& state) {
    Filters const metadata{{"region:==", "eu-central-1"}, {"weight:>=", "2"}, {"zone:!=", "b"}};
    Filters const metrics{{"cpu:<", "80"}};
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(filter_document(metadata, metrics));
}
BENCHMARK(write_filters)->Name("filter/document of four");

void write_document(benchmark::State& state) {
    auto const instance = example();
    CountAllocations const count{state};
    for (auto _ : state) {
        benchmark::DoNotOptimize(InstanceEntryCodec::build_instance_data(instance));
    }
}
BENCHMARK(write_document)->Name("register/document");

void write_event(benchmark::State& state) {
    auto const instance = example();
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(event_tail(service, id, &instance));
}
BENCHMARK(write_event)->Name("register/event tail");

void validate_instance(benchmark::State& state) {
    auto const instance = example();
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(InstanceEntryCodec::validated(instance));
}
BENCHMARK(validate_instance)->Name("register/validate");

void decide(benchmark::State& state) {
    HeartbeatConfig config;
    config.enable_metadata_change_detection = state.range(0) != 0;
    config.metadata_update_interval = 0s;
    HeartbeatStateManager manager{config};
    auto const instance = example();
    manager.mark_registered(service, id, instance.metadata, 0ms);
    CountAllocations const count{state};
    for (auto _ : state) {
        benchmark::DoNotOptimize(manager.decide(service, id, instance.metadata, 10s));
    }
}
BENCHMARK(decide)->Name("heartbeat/decide")->ArgName("detection")->Arg(0)->Arg(1);

}  // namespace
}  // namespace rollcall::bench

// The balancers under the names of the designs. Those of the streaming layout choose from a list of
// candidates, all with six metadata entries and weights of 1 to 10; those of CoSky by the names of
// a namespace and a service, over a Redis of its own. A key of consistent hash is one of 1,024.

#include <array>
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define OPENSSL_SUPPRESS_DEPRECATED  // It is what a program would take that wants to be fast.
#include <openssl/md5.h>

#include "balance/hash_ring.hpp"
#include "balance/ring_hash.hpp"
#include "laps.hpp"
#include "live_data.hpp"
#include "support/redis_server.hpp"

#include "rollcall/cosky.hpp"
#include "rollcall/streaming.hpp"

namespace rollcall::bench {
namespace {

constexpr std::string_view service = "payments";
constexpr std::uint32_t places = 128;

std::vector<ServiceInstance> candidates(std::size_t count) {
    std::vector<ServiceInstance> made;
    for (std::size_t i = 0; i < count; ++i) {
        auto instance = numbered_instance(i);
        instance.metadata = {{"region", "eu-central-1"}, {"zone", i % 3 == 0 ? "a" : "b"},
                             {"version", "2.14.0"},      {"team", "payments"},
                             {"host.name", "node-17"},   {"startup.time", "1760000000123"}};
        made.push_back(std::move(instance));
    }
    return made;
}

std::vector<std::string> keys() {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < 1024; ++i) made.push_back("user-" + std::to_string(i * 7919));
    return made;
}

balance::IdList unique_ids(std::size_t count) {
    balance::IdList ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.add(std::string{service} + ':' + numbered_instance(i).instance_id);
    }
    return ids;
}

/// Knows two metrics of everybody, for good.
class KnownMetrics final : public streaming::MetricsProvider {
public:
    streaming::Metrics metrics(std::string_view, std::string_view) override {
        return {{"cpu", 25}, {"latency", 12}};
    }
    void read(std::string_view, std::span<ServiceInstance const>, std::span<std::string_view const>,
              std::span<double> values) override {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 90);
    }
};

void choose(benchmark::State& state, std::shared_ptr<streaming::LoadBalancer> const& balancer,
            std::size_t count, std::size_t threads) {
    auto const from = candidates(count);
    auto const all_keys = keys();
    measure_laps(state, threads, [&](std::size_t, std::size_t turn) {
        ChooseOptions options;
        options.key = all_keys[turn % all_keys.size()];
        benchmark::DoNotOptimize(balancer->choose(service, from, options));
    });
}

void by_ring(benchmark::State& state, std::size_t count, std::size_t threads) {
    balance::HashRing const ring{unique_ids(count), places};
    auto const all_keys = keys();
    measure_laps(state, threads, [&](std::size_t, std::size_t turn) {
        benchmark::DoNotOptimize(ring.find(balance::ring_hash(all_keys[turn % all_keys.size()])));
    });
}

std::uint64_t by_openssl(std::string_view text) {
    std::array<unsigned char, MD5_DIGEST_LENGTH> digest{};
    MD5_CTX context;
    MD5_Init(&context);
    MD5_Update(&context, text.data(), text.size());
    MD5_Final(digest.data(), &context);
    return digest[0];
}

void one_md5(benchmark::State& state) {
    auto const all_keys = keys();
    measure_laps(state, 1, [&](std::size_t, std::size_t turn) {
        benchmark::DoNotOptimize(by_openssl(all_keys[turn % all_keys.size()]));
    });
}

void md5_of_places(benchmark::State& state, std::size_t count) {
    auto const ids = unique_ids(count);
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < places; ++i) {
        texts.push_back(std::string{ids[0]} + '#' + std::to_string(i));
    }
    for (auto _ : state) {
        for (std::size_t i = 0; i < count; ++i) {
            for (auto const& text : texts) benchmark::DoNotOptimize(by_openssl(text));
        }
    }
}

void build_ring(benchmark::State& state, std::size_t count) {
    for (auto _ : state) benchmark::DoNotOptimize(balance::HashRing{unique_ids(count), places});
}

void add_one(benchmark::State& state, std::size_t count) {
    auto const all = unique_ids(count);
    balance::IdList without;
    for (std::size_t i = 0; i < count; ++i) {
        if (i != count / 2) without.add(all[i]);
    }
    balance::HashRing const ring{std::move(without), places};
    for (auto _ : state) benchmark::DoNotOptimize(ring.changed(all));
}

/// A namespace with one service of so many instances.
struct Cosky {
    test::RedisServer const server;
    Client const client{server.url()};
    std::string const ns{cosky::Namespaced::default_namespace};
    std::shared_ptr<cosky::ConsistencyRedisServiceDiscovery> const discovery =
        std::make_shared<cosky::ConsistencyRedisServiceDiscovery>(client, nullptr);

    explicit Cosky(std::size_t count) {
        cosky::RedisServiceRegistry registry{client};
        for (std::size_t i = 0; i < count; ++i) {
            auto instance = numbered_instance(i);
            instance.instance_id.clear();
            instance.port = static_cast<int>(1 + i);
            registry.register_instance(ns, instance);
        }
        if (discovery->snapshot(ns, service).size() != count) throw std::logic_error{"not there"};
    }
};

template <class Balancer>
void choose_by_name(benchmark::State& state, std::size_t count, std::size_t threads) {
    Cosky const peer{count};
    Balancer balancer{peer.discovery};
    measure_laps(state, threads, [&](std::size_t, std::size_t) {
        auto const choice = balancer.choose(peer.ns, service);
        benchmark::DoNotOptimize(&*choice);
    });
}

auto* add(std::string const& name, auto function, auto... arguments) {
    return benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
}

void add_laps(std::string const& name, auto function, auto... arguments) {
    add(name, function, arguments...)->Iterations(1)->UseManualTime();
}

bool const added = [] {
    std::pair<char const*, std::shared_ptr<streaming::LoadBalancer>> const balancers[] = {
        {"weighted_random", std::make_shared<streaming::WeightedRandomLoadBalancer>()},
        {"weighted_round_robin", std::make_shared<streaming::WeightedRoundRobinLoadBalancer>()},
        {"consistent_hash", std::make_shared<streaming::ConsistentHashLoadBalancer>()},
        {"scored", std::make_shared<streaming::ScoredLoadBalancer>(
                       streaming::LoadBalancerConfig{}, std::make_shared<KnownMetrics>())}};
    for (std::size_t const threads : {1U, 2U}) {
        for (std::size_t const count : {10U, 100U, 1000U}) {
            auto const on = '_' + std::to_string(count) + '_' + std::to_string(threads) + 't';
            for (auto const& [name, balancer] : balancers) {
                add_laps(std::string{"choose."} + name + on, choose, balancer, count, threads);
            }
            add_laps("choose.ring" + on, by_ring, count, threads);
            if (count == 100) continue;
            add_laps("choose.cosky.random" + on, choose_by_name<cosky::RandomLoadBalancer>, count,
                     threads);
            add_laps("choose.cosky.weight_random" + on,
                     choose_by_name<cosky::BinaryWeightRandomLoadBalancer>, count, threads);
        }
    }
    add_laps("yardstick/MD5_Init, _Update, _Final", one_md5);
    for (std::size_t const count : {100U, 1000U, 10'000U}) {
        auto const of = std::to_string(count);
        add("yardstick/MD5 of the places of " + of, md5_of_places, count);
        add("ring.built_" + of, build_ring, count);
        add("ring.one_added_to_" + of, add_one, count);
    }
    return true;
}();

}  // namespace
}  // namespace rollcall::bench

#include "load/stage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <future>
#include <stdexcept>

#include "common/redis_info.hpp"
#include "cosky/cosky_port.hpp"
#include "load/monitor.hpp"
#include "streaming/streaming_port.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::bench {
namespace {

constexpr char const* service = "orders";
constexpr std::chrono::seconds patience{10};

streaming::RegistryKeys keys() { return streaming::RegistryKeys{streaming::default_key_prefix}; }

std::unique_ptr<LayoutPort> make_port(Layout layout, std::shared_ptr<redis::ClientCore> core) {
    if (layout == Layout::cosky) return cosky::make_cosky_port(std::move(core), {});
    return streaming::make_streaming_port(std::move(core), {});
}

ClientOptions client_options(test::RedisServer const& server) {
    ClientOptions options;
    options.url = server.url();
    options.request_timeout = patience;
    return options;
}

/// Shared by the coroutines of one run.
struct Run {
    std::size_t working = 0;        // The I/O thread only.
    std::exception_ptr first = {};  // The I/O thread only.
    std::promise<void> ended = {};

    void end(std::exception_ptr const& thrown) {
        if (thrown && !first) first = thrown;
        if (--working > 0) return;
        if (first) {
            ended.set_exception(first);
        } else {
            ended.set_value();
        }
    }
};

Task<void> register_each(Stage& stage, Tickets& tickets) {
    for (std::size_t number = 0; tickets.take(); ++number) {
        auto const instance = stage.instance(number);
        auto const done = co_await stage.port().register_instance(instance, stage.deadline());
        done.value();
    }
}

}  // namespace

std::string digits_of(std::size_t number) {
    auto const digits = std::to_string(number);
    return std::string(random_digits.size() - digits.size(), '0') + digits;
}

Stage::Stage(test::RedisServer const& server, Layout layout)
    : layout_(layout),
      server_(server),
      redis_(server_),
      client_(client_options(server_)),
      port_(make_port(layout, client_.core())) {
    client_.wait_until_ready(patience);
    redis_.must({"FLUSHALL"});
    for (std::size_t i = 0; i < instance_count; ++i) {
        ids_.push_back({service, port_->validated(instance(i)).instance_id});
    }
}

ServiceInstance Stage::instance(std::size_t number) const {
    ServiceInstance instance;
    instance.service_name = service;
    instance.host = "10.20.30.40";
    instance.port = 8080;
    instance.metadata = {{"region", "eu-west-1"}, {"zone", "eu-west-1b"},   {"version", "4.17.2"},
                         {"cluster", "blue"},     {"team", "order-intake"}, {"commit", "9f3c2ab"}};
    (layout_ == Layout::cosky ? instance.host : instance.instance_id) = digits_of(number);
    return instance;
}

std::string Stage::key(std::size_t number) const {
    auto const& id = ids_[number].id;
    return layout_ == Layout::cosky
               ? cosky::DiscoveryKeyGenerator::instance_key(cosky_namespace, id)
               : keys().instance(service, id);
}

std::string Stage::index_key() const {
    return layout_ == Layout::cosky
               ? cosky::DiscoveryKeyGenerator::instance_idx_key(cosky_namespace, service)
               : keys().heartbeats(service);
}

void Stage::run(std::size_t workers, std::size_t tickets, Worker const& worker) {
    Tickets shared{tickets};
    auto const run = std::make_shared<Run>();  // The promise may be in use when its future is not.
    run->working = workers;
    auto ended = run->ended.get_future();
    auto& io = core().io();
    asio::post(io, [&, run] {
        for (std::size_t i = 0; i < workers; ++i) {
            asio::co_spawn(io.get_executor(), worker(shared),
                           [run](std::exception_ptr thrown) { run->end(thrown); });
        }
    });
    ended.get();
}

void Stage::fill() {
    run(1, ids_.size(), [this](Tickets& tickets) { return register_each(*this, tickets); });
    auto const count = layout_ == Layout::cosky ? "SCARD" : "ZCARD";
    auto const members = redis_.must({count, index_key()}).integer;
    if (members != static_cast<long long>(ids_.size())) {
        throw std::runtime_error{"registered " + std::to_string(members) + " instances"};
    }
}

Lap Stage::measure(std::function<void()> const& work) {
    auto const before = redis_state();
    auto const own_before = own_cpu();
    auto const begin = std::chrono::steady_clock::now();
    work();
    Lap lap;
    lap.time = std::chrono::steady_clock::now() - begin;
    lap.client_cpu = own_cpu() - own_before;
    auto const after = redis_state();
    lap.redis_cpu = after.cpu - before.cpu;
    if (after.refused > before.refused) {
        auto const what = redis_.must({"INFO", "errorstats"}).text;
        throw std::runtime_error{"Redis refused commands: " + what};
    }
    return lap;
}

Command Stage::captured_script_call(std::size_t number, std::function<void()> const& work) {
    Monitor monitor{server_};
    work();
    auto command = monitor.next("EVALSHA");
    auto const digits = digits_of(number);
    for (auto& argument : command) {
        for (auto at = argument.find(digits); at != std::string::npos;
             at = argument.find(digits, at + 1)) {
            argument.replace(at, digits.size(), random_digits);
        }
    }
    return command;
}

Stage::RedisState Stage::redis_state() {
    auto const info = redis_.must({"INFO"}).text;
    RedisState state;
    state.cpu = redis_cpu(info);
    state.refused = info_number(info, "total_error_replies");
    return state;
}

}  // namespace rollcall::bench

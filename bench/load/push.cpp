// From a registration in one process to the callback in another, a thousand a second; beside the
// least that could do the same: HSET and PUBLISH there, SUBSCRIBE and HGETALL here.
#include "load/push.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "common/process.hpp"
#include "common/statistics.hpp"
#include "load/cases.hpp"
#include "load/plain_client.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::chrono::milliseconds between_events{1};
constexpr std::size_t first_events = 1'000;  // Each instance once: not counted.
constexpr std::size_t instances = 1'000;     // Taken in turn, so that no two events meet.
constexpr char const* channel = "bare:changes";
constexpr char const* sent_field = "sent";

std::string now_text() { return std::to_string(Clock::now().time_since_epoch().count()); }

/// The monotonic clock is the same in all processes.
double since(std::string const& sent) {
    Clock::time_point const then{Clock::duration{std::stoll(sent)}};
    return Milliseconds{Clock::now() - then}.count();
}

rollcall::Layout layout_of(Layout layout) {
    return layout == Layout::streaming ? streaming_layout() : cosky_layout();
}

std::string bare_key(std::size_t number) { return "bare:" + digits_of(number % instances); }

void at_rate(std::size_t count, std::function<void(std::size_t)> const& send) {
    auto next = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        std::this_thread::sleep_until(next);
        next += between_events;
        send(i);
    }
}

void register_at_rate(std::string const& url, Layout layout, std::size_t count) {
    Client const client{url};
    auto const port = layout_of(layout).make_port()(client.core(), std::chrono::seconds{10});
    auto& core = *client.core();
    at_rate(count, [&](std::size_t i) {
        ServiceInstance instance;
        instance.service_name = "push";
        instance.host =
            "10.0." + std::to_string(i % instances / 250) + '.' + std::to_string(i % 250 + 1);
        instance.port = 8080;
        if (layout == Layout::streaming) instance.instance_id = digits_of(i % instances);
        instance.metadata = {{sent_field, now_text()}};
        core.run([&] { return port->register_instance(instance, core.deadline()); }).value();
    });
}

void publish_at_rate(std::string const& socket, std::size_t count) {
    PlainClient client{socket};
    at_rate(count, [&](std::size_t i) {
        auto const key = bare_key(i);
        auto const sent = now_text();
        std::array<std::string_view, 4> const store{"HSET", key, sent_field, sent};
        std::array<std::string_view, 3> const tell{"PUBLISH", channel, key};
        client.send(store);
        client.send(tell);
        client.receive();
        client.receive();
    });
}

/// This program as the other process; ends with the work.
class Writer {
public:
    Writer(std::string const& kind, std::string const& address, std::size_t count)
        : thread_([=] {
              must_run(
                  {"/proc/self/exe", push_writer_option, kind, address, std::to_string(count)});
          }) {}
    ~Writer() { thread_.join(); }
    Writer(Writer const&) = delete;
    Writer& operator=(Writer const&) = delete;

private:
    std::thread thread_;
};

std::string kind_of(Layout layout) { return layout == Layout::streaming ? "streaming" : "cosky"; }

std::vector<double> without_first(std::vector<double> all) {
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first_events));
    return all;
}

std::vector<double> measure_library(Stage& stage, Layout layout, std::size_t count) {
    auto const all = first_events + count;
    std::mutex mutex;
    std::vector<double> latencies;
    std::atomic<std::size_t> heard = 0;
    Registry const registry{stage.client(), layout_of(layout)};
    auto const service = registry.service("push");
    (void)service.instances();
    auto const watch = service.on_change([&](Change const& change) {
        if (change.kind != ChangeKind::added && change.kind != ChangeKind::updated) return;
        auto const latency = since(change.instance->metadata.at(sent_field));
        std::lock_guard const lock{mutex};
        latencies.push_back(latency);
        ++heard;
    });
    Writer const writer{kind_of(layout), stage.server().url(), all};
    while (heard < all) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    std::lock_guard const lock{mutex};
    return without_first(latencies);
}

std::vector<double> measure_bare(Stage& stage, std::size_t count) {
    auto const socket = stage.server().socket();
    PlainClient messages{socket};
    PlainClient hashes{socket};
    std::array<std::string_view, 2> const subscribe{"SUBSCRIBE", channel};
    messages.send(subscribe);
    messages.receive();
    std::vector<double> latencies;
    Writer const writer{"bare", socket, first_events + count};
    while (latencies.size() < first_events + count) {
        auto const message = messages.receive();
        std::string_view const key{message->element[2]->str, message->element[2]->len};
        std::array<std::string_view, 2> const read{"HGETALL", key};
        hashes.send(read);
        auto const hash = hashes.receive();
        latencies.push_back(since({hash->element[1]->str, hash->element[1]->len}));
    }
    return without_first(std::move(latencies));
}

void append(std::vector<double>& to, std::vector<double> const& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<Figure> measure_push(Stage& stage, Layout layout, std::string const& name,
                                 Effort const& effort) {
    constexpr std::size_t events = 10'000;
    auto const rounds = effort.brief ? std::size_t{1} : std::size_t{4};
    auto const count = effort.brief ? std::size_t{200} : events / rounds;
    std::vector<double> ours;
    std::vector<double> bare;
    for (std::size_t round = 0; round < rounds; ++round) {
        stage.redis().must({"FLUSHALL"});
        append(ours, measure_library(stage, layout, count));
        append(bare, measure_bare(stage, count));
    }
    std::vector<Figure> figures;
    auto const add = [&](char const* suffix, double share, std::optional<double> at_most) {
        Figure figure;
        figure.name = name + suffix;
        figure.value = quantile(ours, share);
        figure.unit = "ms";
        figure.ratio = figure.value / quantile(bare, share);
        figure.against = "bare PUBLISH, SUBSCRIBE, HGETALL";
        figure.samples = ours.size();
        figure.at_most = at_most;
        figures.push_back(std::move(figure));
    };
    add("_p50", 0.5, 2.0);
    add("_p99", 0.99, 3.0);
    add("_p999", 0.999, std::nullopt);
    return figures;
}

}  // namespace

int run_push_writer(std::vector<std::string> const& arguments) {
    auto const& kind = arguments.at(0);
    auto const& address = arguments.at(1);
    auto const count = std::stoul(arguments.at(2));
    if (kind == "bare") {
        publish_at_rate(address, count);
    } else {
        register_at_rate(address, kind == "cosky" ? Layout::cosky : Layout::streaming, count);
    }
    return 0;
}

std::vector<Figure> measure_push_streaming(Stage& stage, Effort const& effort) {
    return measure_push(stage, Layout::streaming, "push.latency", effort);
}

std::vector<Figure> measure_push_cosky(Stage& stage, Effort const& effort) {
    return measure_push(stage, Layout::cosky, "push.cosky.latency", effort);
}

}  // namespace rollcall::bench

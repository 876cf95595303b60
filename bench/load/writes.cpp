#include "load/writes.hpp"

#include <span>
#include <stdexcept>
#include <utility>

#include "load/series.hpp"

namespace rollcall::bench {
namespace {

constexpr std::size_t batch_size = 250;       // Heartbeats in one call.
constexpr std::size_t batches_in_flight = 4;  // No more than 1,000 heartbeats.

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

void append_figures(std::vector<Figure>& all, Way const& way, Series const& ours,
                    Rival const& rival) {
    auto const& theirs = rival.best();
    auto const them = rival.description() + ", " + way.rival_does;
    auto rate = compare(way.name, ours.per_second, "1/s", theirs.per_second, them);
    rate.at_least = way.at_least;
    all.push_back(std::move(rate));
    all.push_back(compare(way.name + ".redis_cpu", ours.redis_cpu, "us", theirs.redis_cpu,
                          "Redis CPU under " + them));
    all.push_back(client_cpu(way.name, ours));
}

}  // namespace

std::vector<Figure> measure_beside(Stage& stage, Rival& rival, Effort const& effort,
                                   std::vector<Way> const& ways) {
    std::vector<Series> series(ways.size());
    auto const lap = [&](std::size_t i) {
        series[i].add(stage.measure(ways[i].lap), ways[i].operations);
    };
    for (std::size_t repetition = 0; repetition < effort.repetitions; ++repetition) {
        lap(0);
        rival.repeat();
        for (std::size_t i = 1; i < ways.size(); ++i) lap(i);
    }
    std::vector<Figure> all;
    for (std::size_t i = 0; i < ways.size(); ++i) append_figures(all, ways[i], series[i], rival);
    return all;
}

void heartbeat_many(Stage& stage, std::size_t calls, std::size_t batch, std::size_t at_a_time) {
    stage.run(at_a_time, calls,
              [&](Tickets& tickets) { return heartbeat_some(stage, batch, tickets); });
}

Way batched_heartbeats(Stage& stage, Effort const& effort, std::string name, double at_least) {
    heartbeat_many(stage, 1, batch_size, 1);  // Makes the script known to Redis.
    auto const calls = effort.operations * 2 / batch_size;
    Way way;
    way.name = std::move(name);
    way.operations = calls * batch_size;
    way.lap = [&stage, calls] { heartbeat_many(stage, calls, batch_size, batches_in_flight); };
    way.rival_does = "the same script, one heartbeat a call";
    way.at_least = at_least;
    return way;
}

}  // namespace rollcall::bench

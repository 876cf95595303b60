#include "load/reads.hpp"

#include <stdexcept>
#include <utility>

#include "load/plain_client.hpp"
#include "load/series.hpp"

namespace rollcall::bench {
namespace {

std::string joined_by_plus(std::vector<std::string_view> const& words) {
    std::string text;
    for (auto const word : words) {
        if (!text.empty()) text += " + ";
        text += word;
    }
    return text;
}

}  // namespace

void must_be_all(std::size_t found) {
    if (found != Stage::instance_count) {
        throw std::runtime_error{"found " + std::to_string(found) + " instances"};
    }
}

void must_be_one(ServiceInstance const& instance, Stage const& stage) {
    if (instance.metadata != stage.instance(0).metadata) {
        throw std::runtime_error{"found other metadata"};
    }
}

std::vector<Figure> measure_reading(Stage& stage, Effort const& effort, Reading const& reading) {
    PlainClient plain{stage.server().socket()};
    std::vector<std::string> keys;
    keys.reserve(Stage::instance_count);
    for (std::size_t i = 0; i < Stage::instance_count; ++i) keys.push_back(stage.key(i));

    std::size_t const laps = effort.brief ? 1 : 4;   // Of each repetition.
    std::size_t const reads = effort.brief ? 1 : 5;  // Of each lap.
    Series ours;
    Series others;
    Series pipelined;
    auto const lap = [&](Series& series, std::size_t times, auto const& work) {
        auto const cost = stage.measure([&] {
            for (std::size_t i = 0; i < times; ++i) work();
        });
        series.add(cost, times);
    };
    auto const read = [&] { lap(ours, reads, reading.ours); };
    auto const read_hashes = [&] {
        lap(pipelined, reads, [&] { must_be_all(plain.read_pipelined(keys, reading.commands)); });
    };
    for (std::size_t i = 0; i < effort.repetitions; ++i) {
        stage.fill();  // The leases are to outlast the repetition.
        // Short laps in changing order: what else happens on the machine is to meet all alike.
        for (std::size_t j = 0; j < laps; ++j) {
            if (j % 2 == 0) read();
            read_hashes();
            if (j % 2 != 0) read();
        }
        for (std::size_t j = 0; j < laps; ++j) lap(others, 1, reading.others);
    }

    auto rate =
        compare(reading.name, ours.per_second, "1/s", others.per_second, reading.others_text);
    rate.at_least = reading.at_least;
    auto redis = compare(reading.name + ".redis_cpu", ours.redis_cpu, "us", pipelined.redis_cpu,
                         "Redis CPU of bare pipelined " + joined_by_plus(reading.commands));
    redis.at_most = 1.2;
    return {std::move(rate), std::move(redis), client_cpu(reading.name, ours)};
}

}  // namespace rollcall::bench

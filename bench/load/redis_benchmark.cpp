#include "load/redis_benchmark.hpp"

#include <charconv>
#include <stdexcept>

namespace rollcall::bench {

std::string Pipelining::text() const {
    return "-c " + std::to_string(clients) + " -P " + std::to_string(depth);
}

std::vector<Pipelining> const& pipelinings() {
    static std::vector<Pipelining> const all{{50, 1},   {50, 8}, {50, 16}, {50, 32}, {50, 64},
                                             {50, 128}, {8, 32}, {8, 128}, {1, 128}, {1, 512}};
    return all;
}

double rate_in_csv(std::string_view output) {
    // "command","rate", and six latencies. The command holds our arguments, quotes and commas
    // included, so the line is read from its end.
    while (output.ends_with('\n')) output.remove_suffix(1);
    auto line = output.substr(output.rfind('\n') + 1);
    for (int latencies = 0; latencies < 6; ++latencies) {
        auto const comma = line.rfind(",\"");
        if (comma == std::string_view::npos) break;
        line = line.substr(0, comma);
    }
    auto const begin = line.rfind(",\"");
    double rate = 0;
    if (begin != std::string_view::npos) {
        auto const number = line.substr(begin + 2);
        std::from_chars(number.data(), number.data() + number.size(), rate);
    }
    if (!(rate > 0)) {
        throw std::runtime_error{"no rate in what redis-benchmark printed: " + std::string{output}};
    }
    return rate;
}

RivalRun run_redis_benchmark(std::string const& socket, Pipelining pipelining, std::size_t count,
                             std::size_t keyspace, Command const& command) {
    // Unless it is made of whole pipelines, redis-benchmark may take its end for a lost connection.
    auto const commands = (count + pipelining.depth - 1) / pipelining.depth * pipelining.depth;
    std::vector<std::string> arguments{"redis-benchmark",
                                       "-s",
                                       socket,
                                       "-c",
                                       std::to_string(pipelining.clients),
                                       "-P",
                                       std::to_string(pipelining.depth),
                                       "-n",
                                       std::to_string(commands),
                                       "-r",
                                       std::to_string(keyspace),
                                       "--csv"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    auto const ended = must_run(arguments);
    return {commands, rate_in_csv(ended.output), ended.cpu / static_cast<double>(commands)};
}

}  // namespace rollcall::bench

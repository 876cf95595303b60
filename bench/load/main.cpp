// Load on a real Redis, through the library and beside it. See docs/benchmarks.md.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/redis_info.hpp"
#include "load/cases.hpp"
#include "load/push.hpp"

namespace {

using namespace rollcall::bench;

struct Arguments {
    bool help = false;
    bool quick = false;
    std::optional<std::filesystem::path> json = {};
    std::string only = {};
    std::optional<double> seconds = {};
};

struct Case {
    std::string_view name;
    Layout layout;
    std::vector<Figure> (*run)(Stage&, Effort const&);
};

constexpr Case cases[] = {
    {"streaming.register", Layout::streaming, measure_streaming_register},
    {"streaming.heartbeat", Layout::streaming, measure_streaming_heartbeat},
    {"streaming.discover", Layout::streaming, measure_streaming_discover},
    {"cosky.register", Layout::cosky, measure_cosky_register},
    {"cosky.renew", Layout::cosky, measure_cosky_renew},
    {"cosky.instances", Layout::cosky, measure_cosky_instances},
    {"cosky.keepalive", Layout::cosky, measure_cosky_keepalive},
    {"push.latency", Layout::streaming, measure_push_streaming},
    {"push.cosky.latency", Layout::cosky, measure_push_cosky},
    {"workload_p", Layout::cosky, measure_workload_p},
    {"workload_c", Layout::cosky, measure_workload_c},
};

constexpr char const* usage =
    R"(Usage: load [--quick] [--json FILE] [--only NAME] [--seconds N]

  --quick      one short repetition of everything: that it works, not how fast
  --json FILE  also append the figures to FILE, one JSON object a line
  --only NAME  measure this alone: a case, or a figure that is named after one, with the others of
               its case; a layout (streaming, cosky); what cases of layouts share (register)
  --seconds N  in the workloads, one lap of N seconds after a warm-up of N seconds; CoSky's own
               benchmark takes 10. Without it: laps of a quarter of a second

Cases: streaming.register, streaming.heartbeat, streaming.discover,
       cosky.register, cosky.renew, cosky.instances, cosky.keepalive,
       push.latency, push.cosky.latency,
       workload_p, workload_c (CoSky's benchmark: as published, as it is today)
)";

/// `streaming.heartbeat_batch` is a figure of `streaming.heartbeat`.
bool is_figure_of(std::string_view figure, std::string_view name) {
    if (!figure.starts_with(name)) return false;
    figure.remove_prefix(name.size());
    return figure.empty() || figure.front() == '_' || figure.front() == '.';
}

bool is_meant(std::string_view only, std::string_view name) {
    auto const layout = name.substr(0, name.find('.'));
    auto const rest = name.substr(name.find('.') + 1);  // All of it without a point.
    return only.empty() || only == layout || only == rest || is_figure_of(only, name);
}

std::optional<double> positive(char const* text) {
    char* end = nullptr;
    double const number = std::strtod(text, &end);
    if (*end != '\0' || !(number > 0) || number > 3'600) return std::nullopt;
    return number;
}

std::optional<Arguments> parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--help") {
            arguments.help = true;
        } else if (word == "--quick") {
            arguments.quick = true;
        } else if (word == "--json" && i + 1 < argc) {
            arguments.json = argv[++i];
        } else if (word == "--only" && i + 1 < argc) {
            arguments.only = argv[++i];
        } else if (word == "--seconds" && i + 1 < argc) {
            arguments.seconds = positive(argv[++i]);
            if (!arguments.seconds) return std::nullopt;
        } else {
            return std::nullopt;
        }
    }
    auto const meant = [&](Case const& each) { return is_meant(arguments.only, each.name); };
    if (std::ranges::none_of(cases, meant)) return std::nullopt;
    return arguments;
}

Effort effort_of(Arguments const& arguments) {
    Effort effort;
    if (arguments.quick) {
        effort.brief = true;
        effort.repetitions = 1;
        effort.operations = 1'000;
        effort.lap = std::chrono::milliseconds{3};
        effort.laps = 1;
    }
    if (arguments.seconds) {
        effort.lap = std::chrono::duration<double>{*arguments.seconds};
        effort.laps = 1;
    }
    return effort;
}

void measure(Arguments const& arguments) {
    auto const effort = effort_of(arguments);
    Cores const cores;
    cores.use_first();
    rollcall::test::RedisServer const server;
    cores.use_others();
    std::optional<Circumstances> where;
    for (auto const& each : cases) {
        if (!is_meant(arguments.only, each.name)) continue;
        Stage stage{server, each.layout};
        if (!where) {
            auto const info = stage.redis().must({"INFO", "server"}).text;
            where = circumstances(info_text(info, "redis_version"));
            std::cout << *where << std::flush;
        }
        auto figures = each.run(stage, effort);
        for (auto& figure : figures) {
            if (arguments.quick) figure.at_least = figure.at_most = std::nullopt;
        }
        print_table(std::cout, figures);
        std::cout << std::flush;
        if (arguments.json) append_json_lines(*arguments.json, figures, *where);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> const words{argv + 1, argv + argc};
    if (!words.empty() && words[0] == push_writer_option) {
        return run_push_writer({words.begin() + 1, words.end()});
    }
    auto const arguments = parse(argc, argv);
    if (!arguments) {
        std::cerr << usage;
        return 2;
    }
    if (arguments->help) {
        std::cout << usage;
        return 0;
    }
    measure(*arguments);
    return 0;
} catch (std::exception const& error) {
    std::cerr << "load: " << error.what() << '\n';
    return 1;
}

// Load on a real Redis, through the library and beside it. See docs/benchmarks.md.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "load/cases.hpp"

namespace {

using namespace rollcall::bench;

struct Arguments {
    bool quick = false;
    std::optional<std::filesystem::path> json = {};
    std::string only = {};
};

constexpr char const* usage =
    R"(Usage: load [--quick] [--json FILE] [--only register|heartbeat|discover]

  --quick      one short repetition of everything: that it works, not how fast
  --json FILE  also append the figures to FILE, one JSON object a line
  --only CASE  measure this alone
)";

std::optional<Arguments> parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--quick") {
            arguments.quick = true;
        } else if (word == "--json" && i + 1 < argc) {
            arguments.json = argv[++i];
        } else if (word == "--only" && i + 1 < argc) {
            arguments.only = argv[++i];
        } else {
            return std::nullopt;
        }
    }
    return arguments;
}

std::string load_average() {
    std::ifstream in{"/proc/loadavg"};
    std::string one;
    in >> one;
    return one;
}

std::string redis_version(Stage& stage) {
    auto const info = stage.redis().must({"INFO", "server"}).text;
    constexpr std::string_view name = "redis_version:";
    auto const at = info.find(name);
    if (at == std::string::npos) return "unknown";
    auto const begin = at + name.size();
    return info.substr(begin, info.find('\r', begin) - begin);
}

void measure(Arguments const& arguments) {
    Effort effort;
    if (arguments.quick) effort = {true, 1, 2'000};
    Cores const cores;
    cores.use_first();
    rollcall::test::RedisServer const server;
    cores.use_others();
    Stage stage{server};
    auto const where = circumstances(redis_version(stage));
    std::cout << where.machine << ", Redis " << where.redis << ", commit " << where.commit
              << ", load average " << load_average() << '\n'
              << std::flush;
    struct Case {
        std::string_view name;
        std::vector<Figure> (*run)(Stage&, Effort const&);
    };
    for (auto const& each :
         {Case{"register", measure_register}, Case{"heartbeat", measure_heartbeats},
          Case{"discover", measure_discovery}}) {
        if (!arguments.only.empty() && arguments.only != each.name) continue;
        auto figures = each.run(stage, effort);
        for (auto& figure : figures) {
            if (arguments.quick) figure.at_least = figure.at_most = std::nullopt;
        }
        print_table(std::cout, figures);
        std::cout << std::flush;
        if (arguments.json) append_json_lines(*arguments.json, figures, where);
    }
}

}  // namespace

int main(int argc, char** argv) {
    auto const arguments = parse(argc, argv);
    if (!arguments) {
        std::cerr << usage;
        return 2;
    }
    try {
        measure(*arguments);
    } catch (std::exception const& error) {
        std::cerr << "load: " << error.what() << '\n';
        return 1;
    }
    return 0;
}

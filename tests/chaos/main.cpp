// Truth under faults: see docs/robustness.md. Ends with 0 when the promises held.
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/scenario.hpp"

namespace rollcall::chaos {
namespace {

constexpr Seconds hidden_limit{1.0};
constexpr Seconds lingering_limit{2.0};

struct Arguments {
    ScenarioOptions scenario = {};
    std::string json_file = {};
    double tolerance = 1.0;  ///< Of the limits: for programs that a sanitizer slows down.
};

double number_of(std::string_view name, std::string const& text) try {
    return std::stod(text);
} catch (std::exception const&) {
    throw std::invalid_argument{std::string{name} + " '" + text + "': must be a number"};
}

Arguments arguments_of(std::vector<std::string> const& words) {
    Arguments result;
    result.scenario.seed = std::random_device{}();
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto const& name = words[i];
        if (name == "--verbose") {
            result.scenario.verbose = true;
            continue;
        }
        if (i + 1 == words.size()) throw std::invalid_argument{name + ": needs a value"};
        auto const& value = words[++i];
        if (name == "--seed") {
            result.scenario.seed = static_cast<std::uint64_t>(number_of(name, value));
        } else if (name == "--minutes") {
            result.scenario.length =
                std::chrono::milliseconds{static_cast<long>(number_of(name, value) * 60'000)};
        } else if (name == "--layout" && (value == "streaming" || value == "cosky")) {
            result.scenario.fleet.layout = value;
        } else if (name == "--json") {
            result.json_file = value;
        } else if (name == "--tolerance") {
            result.tolerance = number_of(name, value);
        } else {
            throw std::invalid_argument{name + " '" + value + "': unknown"};
        }
    }
    return result;
}

void write_json(std::string const& file, Arguments const& arguments, Figures const& figures) {
    boost::json::object const object{{"layout", arguments.scenario.fleet.layout},
                                     {"hidden_max_s", figures.hidden_max.count()},
                                     {"lingering_max_s", figures.lingering_max.count()},
                                     {"duplicates", figures.duplicates},
                                     {"reader_errors", figures.reader_errors},
                                     {"resurrected", figures.resurrected},
                                     {"samples", figures.samples},
                                     {"seed", arguments.scenario.seed}};
    std::ofstream{file, std::ios::app} << boost::json::serialize(object) << '\n';
}

int judge(Arguments const& arguments) {
    auto const& scenario = arguments.scenario;
    std::printf("%s, seed %llu\n", scenario.fleet.layout.c_str(),
                static_cast<unsigned long long>(scenario.seed));
    std::fflush(stdout);
    auto const figures = Scenario{scenario}.run();
    std::printf(
        "hidden at most %.3f s %s\nlingering at most %.3f s %s\n"
        "%zu duplicates, %zu reader errors, %zu resurrected in %zu samples\n",
        figures.hidden_max.count(), figures.hidden_example.c_str(), figures.lingering_max.count(),
        figures.lingering_example.c_str(), figures.duplicates, figures.reader_errors,
        figures.resurrected, figures.samples);
    if (!arguments.json_file.empty()) write_json(arguments.json_file, arguments, figures);
    bool const kept = figures.hidden_max <= hidden_limit * arguments.tolerance &&
                      figures.lingering_max <= lingering_limit * arguments.tolerance &&
                      figures.duplicates + figures.reader_errors + figures.resurrected == 0;
    std::puts(kept ? "the promises held" : "A PROMISE WAS BROKEN");
    return kept ? 0 : 1;
}

int owner(std::vector<std::string> const& words) {
    Fleet fleet;
    fleet.layout = words.at(2);
    fleet.lease = std::chrono::milliseconds{std::stol(words.at(3))};
    fleet.heartbeat = std::chrono::milliseconds{std::stol(words.at(4))};
    auto const kind = words.at(5) == "java" ? OwnerKind::java_like : OwnerKind::announcer;
    return run_owner(fleet, words.at(1), kind);
}

}  // namespace
}  // namespace rollcall::chaos

int main(int count, char** values) try {
    std::vector<std::string> const words{values + 1, values + count};
    if (!words.empty() && words[0] == "--owner") return rollcall::chaos::owner(words);
    return rollcall::chaos::judge(rollcall::chaos::arguments_of(words));
} catch (std::exception const& error) {
    std::cerr << "chaos: " << error.what() << '\n';
    return 2;
}

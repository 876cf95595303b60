// Truth under faults: see docs/robustness.md. Ends with 0 when the promises held.
#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "chaos/scenario.hpp"

namespace rollcall::chaos {
namespace {

constexpr Seconds hidden_limit{1.0};
constexpr Seconds lingering_limit{2.0};
constexpr Seconds noticed_limit{1.0};
constexpr Seconds back_limit{1.2};  // A pause of at most 1 s, and the time to connect.

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

void write_json(std::string const& file, Arguments const& arguments, Outcome const& outcome) {
    auto const& figures = outcome.figures;
    boost::json::object happened;
    for (auto const& [name, count] : outcome.happened) happened[name] = count;
    boost::json::object const object{{"layout", arguments.scenario.fleet.layout},
                                     {"hidden_max_s", figures.hidden_max.count()},
                                     {"lingering_max_s", figures.lingering_max.count()},
                                     {"duplicates", figures.duplicates},
                                     {"reader_errors", figures.reader_errors},
                                     {"resurrected", figures.resurrected},
                                     {"samples", figures.samples},
                                     {"seed", arguments.scenario.seed},
                                     {"noticed_max_s", outcome.noticed_max.count()},
                                     {"noticed", outcome.noticed},
                                     {"held_up", outcome.held_up},
                                     {"back_max_s", outcome.back_max.count()},
                                     {"unpromised_max_s", figures.unpromised_max.count()},
                                     {"standstills", outcome.standstills},
                                     {"conflicts", outcome.conflicts},
                                     {"happened", happened}};
    std::ofstream{file, std::ios::app} << boost::json::serialize(object) << '\n';
}

void print(Outcome const& outcome) {
    auto const& figures = outcome.figures;
    auto const* separator = "";
    for (auto const& [name, count] : outcome.happened) {
        std::printf("%s%zu x %s", separator, count, name.c_str());
        separator = ", ";
    }
    std::printf(
        "\nhidden at most %.3f s %s\nlingering at most %.3f s %s\n"
        "%zu duplicates, %zu reader errors, %zu resurrected, %zu conflicts in %zu samples\n"
        "%zu dead connections noticed within %.3f s, %zu of them by processes that had to wait; "
        "made again within %.3f s\n"
        "hidden at most %.3f s where nothing is promised; Redis stood still %zu times\n",
        figures.hidden_max.count(), figures.hidden_example.c_str(), figures.lingering_max.count(),
        figures.lingering_example.c_str(), figures.duplicates, figures.reader_errors,
        figures.resurrected, outcome.conflicts, figures.samples, outcome.noticed,
        outcome.noticed_max.count(), outcome.held_up, outcome.back_max.count(),
        figures.unpromised_max.count(), outcome.standstills);
}

bool all_kept(Outcome const& outcome, double tolerance) {
    auto const& figures = outcome.figures;
    return figures.hidden_max <= hidden_limit * tolerance &&
           figures.lingering_max <= lingering_limit * tolerance &&
           outcome.noticed_max <= noticed_limit * tolerance &&
           outcome.back_max <= back_limit * tolerance &&
           figures.duplicates + figures.reader_errors + figures.resurrected == 0 &&
           outcome.conflicts == 0;
}

bool all_happened(Outcome const& outcome) {
    return std::ranges::all_of(outcome.happened, [](auto const& one) { return one.second > 0; });
}

int judge(Arguments const& arguments) {
    auto const& scenario = arguments.scenario;
    std::printf("%s, seed %llu\n", scenario.fleet.layout.c_str(),
                static_cast<unsigned long long>(scenario.seed));
    std::fflush(stdout);
    auto const outcome = Scenario{scenario}.run();
    print(outcome);
    if (!arguments.json_file.empty()) write_json(arguments.json_file, arguments, outcome);
    bool const kept = all_kept(outcome, arguments.tolerance);
    bool const enough = all_happened(outcome);
    if (!enough) std::puts("SOMETHING NEVER HAPPENED: this run says too little");
    std::puts(kept ? "the promises held" : "A PROMISE WAS BROKEN");
    return kept && enough ? 0 : 1;
}

/// Redis writes what it acknowledged to a file at once: on a disk that others use that takes it
/// seconds at times.
void prefer_memory() {
    constexpr auto memory = "/dev/shm";
    if (::access(memory, W_OK) == 0) ::setenv("TMPDIR", memory, 0);
}

int owner(std::vector<std::string> const& words) {
    Fleet fleet;
    fleet.layout = words.at(2);
    fleet.lease = std::chrono::milliseconds{std::stol(words.at(3))};
    fleet.heartbeat = std::chrono::milliseconds{std::stol(words.at(4))};
    auto const kind = words.at(5) == "recorded" ? OwnerKind::recorded : OwnerKind::announcer;
    return run_owner(fleet, words.at(1), kind);
}

}  // namespace
}  // namespace rollcall::chaos

int main(int count, char** values) try {
    std::vector<std::string> const words{values + 1, values + count};
    if (!words.empty() && words[0] == "--owner") return rollcall::chaos::owner(words);
    rollcall::chaos::prefer_memory();
    return rollcall::chaos::judge(rollcall::chaos::arguments_of(words));
} catch (std::exception const& error) {
    std::cerr << "chaos: " << error.what() << '\n';
    return 2;
}

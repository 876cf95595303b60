// Runs the benchmarks several times in a shuffled order and prints medians, then the ratios that
// targets are set for. `--json FILE` appends one JSON object a figure; other options are those of
// Google Benchmark.

#include <benchmark/benchmark.h>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::bench {
namespace {

/// `name` is to be at least `at_least` times as fast as `against`; 0: told only.
struct Target {
    std::string_view name;
    std::string_view against;
    double at_least;
};

constexpr Target targets[] = {
    {"decode/fields", "decode/fields by unordered_map and Boost.JSON", 2.5},
    {"decode/reply", "decode/reply by hiredis, unordered_map and Boost.JSON", 0},
    {"metadata/document:2", "metadata by parser/document:2", 0},
    {"key/instance", "key/instance by sums of strings", 0},
};

struct Median {
    double nanoseconds = 0;
    double allocations = 0;
};

/// Prints as usual and keeps the medians.
class Reporter : public benchmark::ConsoleReporter {
public:
    Reporter() : ConsoleReporter(OO_Tabular) {}

    void ReportRuns(std::vector<Run> const& runs) override {
        ConsoleReporter::ReportRuns(runs);
        for (auto const& run : runs) {
            if (run.error_occurred) failed_ = true;
            bool const single = run.run_type == Run::RT_Iteration;
            if (!single && run.aggregate_name != "median") continue;
            auto& median = medians_[run.run_name.str()];
            median.nanoseconds = run.GetAdjustedCPUTime();
            auto const counter = run.counters.find("allocations");
            if (counter != run.counters.end()) median.allocations = counter->second;
        }
    }

    std::map<std::string, Median, std::less<>> const& medians() const { return medians_; }
    bool failed() const { return failed_; }

private:
    std::map<std::string, Median, std::less<>> medians_;
    bool failed_ = false;
};

double ratio(Reporter const& reporter, Target const& target) {
    auto const ours = reporter.medians().find(target.name);
    auto const other = reporter.medians().find(target.against);
    if (ours == reporter.medians().end() || other == reporter.medians().end()) return 0;
    return other->second.nanoseconds / ours->second.nanoseconds;
}

void print_ratios(Reporter const& reporter) {
    std::cout << "\ntimes as fast\n";
    for (auto const& target : targets) {
        auto const times = ratio(reporter, target);
        if (times == 0) continue;
        std::cout << std::setw(6) << std::fixed << std::setprecision(2) << times << "  "
                  << target.name << " against " << target.against;
        if (target.at_least > 0) {
            std::cout << " (wanted: " << target.at_least
                      << (times >= target.at_least ? ")" : ", MISSED)");
        }
        std::cout << '\n';
    }
}

void append_json(std::string const& file, Reporter const& reporter) {
    std::ofstream out{file, std::ios::app};
    for (auto const& [name, median] : reporter.medians()) {
        boost::json::object line{{"name", "micro." + name},
                                 {"value", median.nanoseconds},
                                 {"unit", "ns"},
                                 {"allocations", median.allocations}};
        for (auto const& target : targets) {
            if (target.name != name) continue;
            if (auto const times = ratio(reporter, target); times > 0) {
                line["ratio"] = times;
                line["against"] = target.against;
            }
        }
        out << boost::json::serialize(line) << '\n';
    }
    if (!out) throw std::runtime_error("cannot write " + file);
}

/// Takes `--json FILE` out of the arguments.
std::string take_json(std::vector<std::string>& arguments) {
    for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
        if (arguments[i] != "--json") continue;
        auto file = arguments[i + 1];
        arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                        arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
        return file;
    }
    return {};
}

int run(std::vector<std::string> arguments) {
    auto const json = take_json(arguments);
    // Before those of the caller, which therefore count.
    arguments.insert(
        arguments.begin() + 1,
        {"--benchmark_min_time=0.05", "--benchmark_repetitions=9",
         "--benchmark_report_aggregates_only=true", "--benchmark_enable_random_interleaving=true"});
    std::vector<char*> argv;
    argv.reserve(arguments.size());
    for (auto& argument : arguments) argv.push_back(argument.data());
    int argc = static_cast<int>(argv.size());
    benchmark::Initialize(&argc, argv.data());
    if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) return 2;
    Reporter reporter;
    if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 2;
    print_ratios(reporter);
    if (!json.empty()) append_json(json, reporter);
    return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace rollcall::bench

int main(int argc, char** argv) {
    try {
        return rollcall::bench::run({argv, argv + argc});
    } catch (std::exception const& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}

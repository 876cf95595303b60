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

/// `name` is to be at least `at_least` times as fast as `against`, or to take at most `at_most`
/// times as long; neither: told only.
struct Target {
    std::string_view name;
    std::string_view against;
    double at_least = 0;
    double at_most = 0;
};

constexpr std::string_view increment = "yardstick/increment of one's own";
constexpr std::string_view md5 = "yardstick/MD5_Init, _Update, _Final";

constexpr Target targets[] = {
    {"decode/fields", "decode/fields by unordered_map and Boost.JSON", 2.5},
    {"decode/reply", "decode/reply by hiredis, unordered_map and Boost.JSON"},
    {"metadata/document:2", "metadata by parser/document:2"},
    {"key/instance", "key/instance by sums of strings"},
    {"read.handle_1t", "read.handle_1t by shared_mutex and shared_ptr", 3.5},
    {"read.handle_1t", increment, 0, 2},
    {"read.handle_1t/10000 updates", increment, 0, 2},
    {"read.handle_2t", "read.handle_2t by shared_mutex and shared_ptr", 40},
    {"read.handle_2t", "read.handle_1t", 0, 1.3},
    {"read.handle_2t/10000 updates", "read.handle_2t/10000 updates by shared_mutex and shared_ptr",
     40},
    {"read.handle_2t/10000 updates", "read.handle_1t/10000 updates", 0, 1.3},
    {"read.name_1t", increment, 0, 6},
    {"read.name_1t/rotating", increment, 0, 13},
    {"read.name_1t/rotating", "read.name_1t/rotating by shared_mutex and shared_ptr", 1.3},
    {"read.name_2t", "read.name_1t", 0, 1.3},
    {"read.name_2t/rotating", "read.name_1t/rotating", 0, 1.3},
    {"choose/weighted/instances:100", increment, 0, 4},
    {"choose/weighted/instances:1000", increment, 0, 8},
    {"choose/weighted/instances:10000", increment, 0, 8},
    {"choose.weighted_random_10_1t", increment},
    {"choose.weighted_random_10_2t", "choose.weighted_random_10_1t", 0, 1.3},
    {"choose.weighted_random_1000_2t", "choose.weighted_random_1000_1t", 0, 1.3},
    {"choose.weighted_round_robin_10_1t", increment},
    {"choose.weighted_round_robin_10_2t", "choose.weighted_round_robin_10_1t", 0, 1.3},
    {"choose.weighted_round_robin_1000_2t", "choose.weighted_round_robin_1000_1t", 0, 1.3},
    {"choose.scored_10_1t", increment},
    {"choose.scored_10_2t", "choose.scored_10_1t", 0, 1.3},
    {"choose.scored_1000_2t", "choose.scored_1000_1t", 0, 1.3},
    {"choose.consistent_hash_10_1t", md5},
    {"choose.consistent_hash_10_2t", "choose.consistent_hash_10_1t", 0, 1.3},
    {"choose.consistent_hash_100_1t", md5},
    {"choose.consistent_hash_1000_1t", md5},
    {"choose.consistent_hash_1000_2t", "choose.consistent_hash_1000_1t", 0, 1.3},
    {"choose.ring_10_1t", md5, 0, 1.6},
    {"choose.ring_100_1t", md5, 0, 1.6},
    {"choose.ring_1000_1t", md5, 0, 4},
    {"choose.ring_1000_2t", "choose.ring_1000_1t", 0, 1.3},
    {"ring.built_100", "yardstick/MD5 of the places of 100", 0, 0.6},
    {"ring.built_1000", "yardstick/MD5 of the places of 1000", 0, 0.8},
    {"ring.one_added_to_1000", "ring.built_1000", 0, 0.03},
    {"ring.one_added_to_10000", "ring.built_10000", 0, 0.05},
    {"choose.cosky.random_10_1t", increment},
    {"choose.cosky.random_10_2t", "choose.cosky.random_10_1t", 0, 1.3},
    {"choose.cosky.weight_random_10_1t", increment},
    {"choose.cosky.weight_random_10_2t", "choose.cosky.weight_random_10_1t", 0, 1.3},
    {"choose.cosky.weight_random_1000_1t", increment},
    {"choose.cosky.weight_random_1000_2t", "choose.cosky.weight_random_1000_1t", 0, 1.3},
    {"choose.handle.weighted_random_10_1t", increment, 0, 4},
    {"choose.handle.weighted_random_100_1t", increment, 0, 4},
    {"choose.handle.weighted_random_1000_1t", increment, 0, 4},
    {"choose.handle.weighted_random_100_2t", "choose.handle.weighted_random_100_1t", 0, 1.3},
    {"choose.round_robin_10_1t", increment, 0, 1},
    {"choose.round_robin_100_1t", increment, 0, 1},
    {"choose.round_robin_1000_1t", increment, 0, 1},
    {"choose.round_robin_100_2t", "choose.round_robin_100_1t", 0, 1.3},
    {"choose.least_outstanding_10_1t", increment, 0, 2},
    {"choose.least_outstanding_100_1t", increment, 0, 2},
    {"choose.least_outstanding_1000_1t", increment, 0, 2},
    {"choose.least_outstanding_100_2t", "choose.least_outstanding_100_1t", 0, 1.3},
    {"choose.lowest_latency_10_1t", increment, 0, 2.5},
    {"choose.lowest_latency_100_1t", increment, 0, 2.5},
    {"choose.lowest_latency_1000_1t", increment, 0, 2.5},
    {"choose.lowest_latency_100_2t", "choose.lowest_latency_100_1t", 0, 1.3},
    {"choose.handle.consistent_hash_100_1t", md5, 0, 1.6},
    {"choose.handle.consistent_hash_1000_1t", md5, 0, 4},
    {"choose.handle.consistent_hash_100_2t", "choose.handle.consistent_hash_100_1t", 0, 1.3},
    {"call.least_outstanding_100_1t", increment, 0, 4.5},
    {"read.name_1t/rotating", "stand-in.copy_and_filter_10_1t"},
    {"read.name_1t/rotating", "stand-in.copy_and_filter_1000_1t"},
    {"read.name_2t/rotating", "stand-in.copy_and_filter_10_2t"},
    {"read.name_2t/rotating", "stand-in.copy_and_filter_1000_2t"},
    {"choose.consistent_hash_10_1t", "stand-in.ring_for_each_choice_10_1t"},
    {"choose.consistent_hash_1000_1t", "stand-in.ring_for_each_choice_1000_1t"},
    {"choose.handle.consistent_hash_1000_1t", "stand-in.ring_for_each_choice_1000_1t"},
    {"choose.weighted_round_robin_10_1t", "stand-in.locked_round_robin_10_1t"},
    {"choose.weighted_round_robin_1000_1t", "stand-in.locked_round_robin_1000_1t"},
    {"choose.handle.consistent_hash_10_1t", "stand-in.ring_for_each_choice_10_1t"},
    {"choose.round_robin_10_1t", "stand-in.locked_round_robin_10_1t"},
    {"choose.round_robin_1000_1t", "stand-in.locked_round_robin_1000_1t"},
    {"feed.apply_10000", "feed.apply_10000 to a vector of shared_ptr", 30},
    {"feed.apply_1000", "feed.apply_1000 to a vector of shared_ptr and an alias table", 6},
    {"feed.apply_10000", "feed.apply_10000 to a vector of shared_ptr and an alias table", 30},
    {"feed.apply_1000", "yardstick/copy of 1000 pointers", 0, 30},
    {"feed.apply_10000", "yardstick/copy of 10000 pointers", 0, 4},
    {"feed.apply_100000", "yardstick/copy of 100000 pointers", 0, 2},
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
            auto& median = medians_[name_of(run)];
            // What times itself knows better than the thread that waited for it.
            bool const manual = !run.run_name.time_type.empty();
            median.nanoseconds = manual ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
            auto const counter = run.counters.find("allocations");
            if (counter != run.counters.end()) median.allocations = counter->second;
        }
    }

    std::map<std::string, Median, std::less<>> const& medians() const { return medians_; }
    bool failed() const { return failed_; }

private:
    static std::string name_of(Run const& run) {
        auto const& name = run.run_name;
        return name.args.empty() ? name.function_name : name.function_name + '/' + name.args;
    }

    std::map<std::string, Median, std::less<>> medians_;
    bool failed_ = false;
};

/// As the target is set: times as fast, or times as long.
double ratio(Reporter const& reporter, Target const& target) {
    auto const ours = reporter.medians().find(target.name);
    auto const other = reporter.medians().find(target.against);
    if (ours == reporter.medians().end() || other == reporter.medians().end()) return 0;
    auto const times_as_long = ours->second.nanoseconds / other->second.nanoseconds;
    return target.at_most > 0 ? times_as_long : 1 / times_as_long;
}

void print_ratio(Target const& target, double ratio) {
    bool const cost = target.at_most > 0;
    bool const met = cost ? ratio <= target.at_most : ratio >= target.at_least;
    std::cout << std::setw(8) << std::fixed << std::setprecision(2) << ratio
              << (cost ? " times as long as  " : " times as fast as  ") << target.name
              << "  against  " << target.against;
    if (cost || target.at_least > 0) {
        std::cout << " (wanted: " << (cost ? "at most " : "at least ")
                  << (cost ? target.at_most : target.at_least) << (met ? ")" : ", MISSED)");
    }
    std::cout << '\n';
}

void print_ratios(Reporter const& reporter) {
    std::cout << "\nratios\n";
    for (auto const& target : targets) {
        if (auto const found = ratio(reporter, target); found > 0) print_ratio(target, found);
    }
}

/// One line a target, so that a figure with two targets has two; others have one without a ratio.
void append_json(std::string const& file, Reporter const& reporter) {
    std::ofstream out{file, std::ios::app};
    for (auto const& [name, median] : reporter.medians()) {
        // Figures that are called by their own name have a dot in it.
        auto const full = name.find('.') == std::string::npos ? "micro." + name : name;
        boost::json::object line{{"name", full},
                                 {"value", median.nanoseconds},
                                 {"unit", "ns"},
                                 {"allocations", median.allocations}};
        bool written = false;
        for (auto const& target : targets) {
            auto const found = target.name == name ? ratio(reporter, target) : 0;
            if (found <= 0) continue;
            line["ratio"] = found;
            line["against"] = target.against;
            line["ratio_is"] = target.at_most > 0 ? "times as long" : "times as fast";
            out << boost::json::serialize(line) << '\n';
            written = true;
        }
        if (!written) out << boost::json::serialize(line) << '\n';
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

// A large fleet: one process keeps it registered, this one watches all of it. See
// docs/benchmarks.md.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/process.hpp"
#include "common/redis_info.hpp"
#include "common/report.hpp"
#include "scale/writer.hpp"
#include "support/redis_server.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr char const* usage =
    R"(Usage: scale [--instances N] [--services N] [--seconds N] [--heartbeat N]
             [--layout streaming|cosky] [--json FILE]

  --instances N  in all (100,000)
  --services N   that these are of (100)
  --seconds N    of steady state that are measured, twice (60). Reconciliation is once a minute:
                 less shows nothing of it
  --heartbeat N  seconds between two heartbeats of an instance (10)
  --json FILE    also append the figures to FILE, one JSON object a line
)";

struct Arguments {
    Fleet fleet = {};
    std::chrono::seconds steady{60};
    std::filesystem::path json = {};
};

/// Whether there is such an option, and the number is sensible.
bool set_number(Arguments& arguments, std::string const& name, std::string const& value) {
    auto const number = std::strtoul(value.c_str(), nullptr, 10);
    if (name == "--instances") {
        arguments.fleet.instances = number;
    } else if (name == "--services") {
        arguments.fleet.services = number;
    } else if (name == "--seconds") {
        arguments.steady = std::chrono::seconds{number};
    } else if (name == "--heartbeat") {
        arguments.fleet.heartbeat = std::chrono::seconds{number};
    } else {
        return false;
    }
    return number > 0 && number <= 10'000'000;
}

std::optional<Arguments> parse(std::vector<std::string> const& words) {
    Arguments result;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        auto const& name = words[i];
        auto const& value = words[i + 1];
        if (name == "--layout" && (value == "streaming" || value == "cosky")) {
            result.fleet.layout = value;
        } else if (name == "--json") {
            result.json = value;
        } else if (!set_number(result, name, value)) {
            return std::nullopt;
        }
    }
    bool const whole = words.size() % 2 == 0 && result.fleet.services <= result.fleet.instances;
    return whole ? std::optional{result} : std::nullopt;
}

/// What three processes have used so far.
struct Used {
    Microseconds redis{0};
    Microseconds writer{0};
    Microseconds reader{0};
};

class Run {
public:
    explicit Run(Arguments const& arguments) : arguments_(arguments), fleet_(arguments.fleet) {}

    std::vector<Figure> all() {
        std::cout << circumstances(info_text(info(), "redis_version")) << std::flush;
        write();
        auto const alone = steady();
        read();
        auto const together = steady();
        add_steady(alone, together);
        resync();
        return figures_;
    }

    Circumstances where() { return circumstances(info_text(info(), "redis_version")); }

private:
    std::string info() { return redis_.must({"INFO"}).text; }

    void add(char const* name, double value, char const* unit, double ratio = 0,
             char const* against = "") {
        Figure figure;
        figure.name = (fleet_.layout == "cosky" ? "scale.cosky." : "scale.") + std::string{name};
        figure.value = value;
        figure.unit = unit;
        figure.ratio = ratio;
        figure.against = against;
        print_table(std::cout, {figure});
        std::cout << std::flush;
        figures_.push_back(std::move(figure));
    }

    double per_instance(double bytes) const {
        return bytes / static_cast<double>(fleet_.instances);
    }

    static void wait_until(std::string const& what, std::function<bool()> const& condition) {
        auto const end = Clock::now() + std::chrono::minutes{5};
        while (!condition()) {
            if (Clock::now() > end) throw std::runtime_error{what + ": not within five minutes"};
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }

    void write() {
        auto const before = info_number(info(), "used_memory");
        writer_.emplace(fleet_, server_.url());
        auto const took = writer_->registered();
        add("register", static_cast<double>(fleet_.instances) / took.count(), "1/s");
        add("redis_memory", per_instance(info_number(info(), "used_memory") - before), "B");
        add("writer_memory", per_instance(static_cast<double>(resident_memory(writer_->pid()))),
            "B");
    }

    void read() {
        give_back_memory();
        auto const before = resident_memory();
        auto const begun = Clock::now();
        for (std::size_t i = 0; i < fleet_.services; ++i) {
            services_.push_back(registry_.service(fleet_.service_name(i)));
        }
        wait_until("the first load", [&] { return seen() == fleet_.instances; });
        Seconds const took = Clock::now() - begun;
        wait_until("being live", [&] { return all_live(); });
        give_back_memory();
        add("first_load", took.count(), "s");
        add("reader_memory", per_instance(static_cast<double>(resident_memory() - before)), "B");
    }

    void resync() {
        auto const reads = registry_.stats().resyncs;
        auto const begun = Clock::now();
        redis_.must({"CLIENT", "KILL", "TYPE", "pubsub"});
        wait_until("the resync", [&] {
            return registry_.stats().resyncs >= reads + fleet_.services && all_live();
        });
        add("resync", Seconds{Clock::now() - begun}.count(), "s");
        must_be_whole();
    }

    std::size_t seen() const {
        std::size_t sum = 0;
        for (auto const& service : services_) {
            std::error_code error;
            sum += service.instances(error).size();
        }
        return sum;
    }

    bool all_live() const {
        for (auto const& service : services_) {
            if (service.stale()) return false;
        }
        return true;
    }

    void must_be_whole() const {
        auto const found = seen();
        if (found == fleet_.instances && registry_.stats().suspects == 0) return;
        throw std::runtime_error{"the reader sees " + std::to_string(found) + " of " +
                                 std::to_string(fleet_.instances) + " instances, and " +
                                 std::to_string(registry_.stats().suspects) + " suspects"};
    }

    Used used() { return {redis_cpu(info()), cpu_of(writer_->pid()), own_cpu()}; }

    Used steady() {
        auto const before = used();
        std::this_thread::sleep_for(arguments_.steady);
        auto const after = used();
        if (!services_.empty()) must_be_whole();
        return {after.redis - before.redis, after.writer - before.writer,
                after.reader - before.reader};
    }

    /// In percent of a core.
    double share(Microseconds cpu) const { return 100 * (cpu / Microseconds{arguments_.steady}); }

    void add_steady(Used const& alone, Used const& together) {
        add("writer_cpu", share(together.writer), "%");
        add("reader_cpu", share(together.reader), "%");
        add("redis_cpu", share(together.redis), "%", together.redis / alone.redis,
            "Redis without the reader");
    }

    Arguments const& arguments_;
    Fleet const& fleet_;
    test::RedisServer server_;
    test::RedisClient redis_{server_};
    std::optional<Writer> writer_;
    Client client_{server_.url()};
    Registry registry_{client_, fleet_.make_layout()};
    std::vector<Service> services_;
    std::vector<Figure> figures_;
};

int run(Arguments const& arguments) {
    Run run{arguments};
    auto const figures = run.all();
    if (!arguments.json.empty()) append_json_lines(arguments.json, figures, run.where());
    return 0;
}

}  // namespace
}  // namespace rollcall::bench

int main(int argc, char** argv) try {
    using namespace rollcall::bench;
    std::vector<std::string> const words{argv + 1, argv + argc};
    if (!words.empty() && words[0] == writer_option) {
        return run_writer({words.begin() + 1, words.end()});
    }
    if (auto const arguments = parse(words)) return run(*arguments);
    std::cerr << usage;
    return 2;
} catch (std::exception const& error) {
    std::cerr << "scale: " << error.what() << '\n';
    return 1;
}

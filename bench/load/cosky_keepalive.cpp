#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "load/cases.hpp"
#include "load/series.hpp"
#include "load/threads.hpp"

#include "rollcall/cosky/service_registry.hpp"

namespace rollcall::bench {
namespace {

constexpr std::chrono::seconds period{10};
constexpr double wanted_share = 15;     // Per cent of a core.
constexpr double wanted_memory = 10;    // Megabytes for 10,000 instances.
constexpr std::size_t registrants = 8;  // Threads.

/// What an instance of CoSky's own benchmark says.
Metadata one_entry() { return {{"from", "test"}}; }

void renew_all(cosky::ServiceRegistry& registry, std::size_t count) {
    auto const results = registry.renew_registered(period);
    if (results.size() != count) throw std::runtime_error{"not all were renewed"};
    for (auto const& one : results) {
        if (one.renewal != cosky::Renewal::renewed) throw std::runtime_error{"not renewed"};
    }
}

/// A process that keeps many instances alive, all with the same metadata.
class Keeper {
public:
    Keeper(Stage& stage, std::size_t count, Metadata metadata)
        : stage_(stage), count_(count), metadata_(std::move(metadata)), registry_(stage.client()) {}

    void register_all() {
        std::atomic<std::size_t> next{0};
        on_threads(registrants, [&] {
            for (auto number = next++; number < count_; number = next++) {
                auto instance = stage_.instance(number);
                instance.metadata = metadata_;
                registry_.register_instance(cosky_namespace, instance);
            }
        });
        renew_all(registry_, count_);  // Makes the script known to Redis.
    }

    void measure_rounds(std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) {
            rounds.add(stage_.measure([&] { renew_all(registry_, count_); }), count_);
        }
        auto const held = static_cast<double>(resident_memory()) - static_cast<double>(before_);
        memory = held / static_cast<double>(count_) * 10'000 / 1e6;
    }

    Series rounds = {};
    double memory = 0;  ///< Megabytes for 10,000 instances, with what rounds leave behind.

private:
    static std::size_t memory_before() {
        give_back_memory();
        return resident_memory();
    }

    Stage& stage_;
    std::size_t count_;
    Metadata metadata_;
    std::size_t before_ = memory_before();
    cosky::RedisServiceRegistry registry_;
};

/// Per cent of a core that so many operations take in a period, for costs in microseconds of one.
std::vector<double> shares(std::vector<double> costs, std::size_t count) {
    for (auto& cost : costs) {
        cost *= 100 * static_cast<double>(count) / Microseconds{period}.count();
    }
    return costs;
}

Figure share_of_core(std::string name, std::vector<double> const& costs, std::size_t count,
                     double of, std::string against) {
    std::vector<double> const others(costs.size(), of);
    return compare(std::move(name), shares(costs, count), "%", others, std::move(against));
}

Figure memory_figure(std::string name, double megabytes, Metadata const& metadata) {
    return compare(
        std::move(name), {megabytes}, "MB", {wanted_memory},
        "10 MB for 10,000 instances with metadata of " + std::to_string(metadata.size()));
}

}  // namespace

std::vector<Figure> measure_cosky_keepalive(Stage& stage, Effort const& effort) {
    std::size_t const count = effort.brief ? 2'000 : 100'000;
    std::string const name = "cosky.keepalive_" + std::to_string(count);
    std::vector<Figure> figures;
    {
        Keeper keeper{stage, count, one_entry()};
        keeper.register_all();
        keeper.measure_rounds(effort.repetitions);
        figures.push_back(share_of_core(name, keeper.rounds.client_cpu, count, wanted_share,
                                        "15 % of a core, a round every 10 s"));
        figures.back().at_most = 1;
        figures.push_back(
            share_of_core(name + ".redis_cpu", keeper.rounds.redis_cpu, count, 100, "one core"));
        figures.push_back(client_cpu(name, keeper.rounds));
        figures.push_back(memory_figure(name + ".memory", keeper.memory, one_entry()));
        figures.back().at_most = 1;
    }
    auto const usual = stage.instance(0).metadata;
    Keeper keeper{stage, count, usual};
    keeper.register_all();
    keeper.measure_rounds(1);
    figures.push_back(memory_figure(name + ".memory_six", keeper.memory, usual));
    return figures;
}

}  // namespace rollcall::bench

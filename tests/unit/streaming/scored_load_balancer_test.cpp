#include "rollcall/streaming/scored_load_balancer.hpp"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "streaming/metrics_cache.hpp"
#include "streaming/metrics_text.hpp"
#include "streaming/score.hpp"
#include "unit/streaming/balanced.hpp"
#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::candidate;
using test::choose;
using test::Instances;
using test::weighted;

/// Knows what it was told, by id.
class ToldMetrics final : public MetricsProvider {
public:
    explicit ToldMetrics(std::map<std::string, Metrics, std::less<>> told)
        : told_(std::move(told)) {}
    Metrics metrics(std::string_view, std::string_view instance_id) override {
        auto const found = told_.find(instance_id);
        return found == told_.end() ? Metrics{} : found->second;
    }

private:
    std::map<std::string, Metrics, std::less<>> told_;
};

LoadBalancerConfig config_of(test::json::object const& row) {
    LoadBalancerConfig config;
    auto const* const given = row.if_contains("config");
    if (given == nullptr) return config;
    auto const set = [&](char const* name, double& field) {
        if (auto const* const value = given->as_object().if_contains(name)) {
            field = value->is_string() ? std::nan("") : value->to_number<double>();
        }
    };
    auto const prefer = [&](char const* name, std::optional<std::string>& field) {
        if (auto const* const value = given->as_object().if_contains(name)) {
            field = test::text(*value);
        }
    };
    set("base", config.base_weight_factor);
    set("memory_weight", config.memory_weight);
    set("inflight_weight", config.inflight_weight);
    set("queue_weight", config.queue_weight);
    set("error_rate_weight", config.error_rate_weight);
    set("max_cpu", config.max_cpu_percent);
    set("max_queue", config.max_queue);
    prefer("region", config.preferred_region);
    prefer("zone", config.preferred_zone);
    return config;
}

std::optional<double> score_of(test::json::object const& row) {
    Score const score{config_of(row)};
    auto const* const given = row.if_contains("metrics");
    auto const known = read_metrics(given == nullptr ? "" : boost::json::serialize(*given));
    std::vector<double> values;
    for (auto const name : score.names()) {
        auto const found = known.find(name);
        values.push_back(found == known.end() ? std::nan("") : found->second);
    }
    return score(test::instance(row), values.data());
}

TEST(Score, IsTheDocumentedOne) {
    for (auto const& row : test::rows("choices", "scores")) {
        TRACE_ROW(row);
        auto const found = score_of(row.as_object());
        auto const& expected = row.at("expect");
        ASSERT_EQ(found.has_value(), !expected.is_null());
        if (!found) continue;
        auto const* const within = row.as_object().if_contains("within");
        if (within == nullptr) {
            EXPECT_EQ(*found, expected.to_number<double>());
        } else {
            EXPECT_NEAR(*found, expected.to_number<double>(), within->to_number<double>());
        }
    }
}

TEST(MetricsText, IsReadAsDocumented) {
    for (auto const& row : test::rows("choices", "metrics")) {
        TRACE_ROW(row);
        Metrics expected;
        for (auto const& [name, value] : row.at("expect").as_object()) {
            expected.emplace(name, value.to_number<double>());
        }
        EXPECT_EQ(read_metrics(test::text(row.at("text"))), expected);
    }
}

TEST(Scored, ChoosesTheHighestScoreAndOfEqualsTheFirst) {
    ScoredLoadBalancer balancer;
    EXPECT_EQ(choose(balancer, weighted({1, 9, 9, 2})), "i2");
    EXPECT_EQ(choose(balancer, weighted({1, 1})), "i1");
    auto const metrics = std::make_shared<ToldMetrics>(std::map<std::string, Metrics, std::less<>>{
        {"i2", {{"cpu", 90}}}, {"i3", {{"cpu", 10}}}, {"i4", {{"latency", 500}}}});
    ScoredLoadBalancer measured{{}, metrics};
    EXPECT_EQ(choose(measured, weighted({1, 9, 9, 9})), "i3");
    // Also behind those whose metrics are asked for together.
    auto many = weighted(std::vector<int>(700, 1));
    many[650].weight = 5;
    EXPECT_EQ(choose(measured, many), "i651");
}

LoadBalancerConfig at_most_80_percent() {
    LoadBalancerConfig config;
    config.max_cpu_percent = 80;
    return config;
}

std::shared_ptr<MetricsProvider> busy() {
    return std::make_shared<ToldMetrics>(std::map<std::string, Metrics, std::less<>>{
        {"i1", {{"cpu", 95}}}, {"i2", {{"cpu", 90}}}, {"i3", {{"cpu", 80}}}});
}

TEST(Scored, LeavesOutWhoIsAboveALimit) {
    ScoredLoadBalancer balancer{at_most_80_percent(), busy()};
    EXPECT_EQ(choose(balancer, weighted({99, 99, 1})), "i3");
}

TEST(Scored, Defect47LimitsAreBypassedByDefaultAsInTheDesign) {
    ScoredLoadBalancer balancer{at_most_80_percent(), busy()};
    EXPECT_EQ(choose(balancer, weighted({1, 99})), "i1");
    EXPECT_EQ(choose(balancer, weighted({1})), "i1");
    std::string_view const first = "i1";
    auto candidates = weighted({1, 1});
    candidates.push_back(candidate("i1", 9));
    EXPECT_EQ(choose(balancer, candidates, {.exclude = {&first, 1}}), "i2");
}

TEST(Scored, Defect47LimitsHoldIfThatIsAskedFor) {
    auto config = at_most_80_percent();
    config.none_when_all_excluded = true;
    ScoredLoadBalancer balancer{config, busy()};
    EXPECT_EQ(choose(balancer, weighted({1, 99})), "");
    EXPECT_EQ(choose(balancer, weighted({1})), "");
    EXPECT_EQ(choose(balancer, weighted({1, 1, 1})), "i3");
    EXPECT_EQ(choose(balancer, {}), "");
}

TEST(Scored, Defect49MetricsThatAreNullAreNone) {
    EXPECT_TRUE(read_metrics("null").empty());
    std::map<std::string, Metrics, std::less<>> told{{"i1", read_metrics("null")}};
    ScoredLoadBalancer balancer{{}, std::make_shared<ToldMetrics>(told)};
    EXPECT_EQ(choose(balancer, weighted({1, 1})), "i1");
}

TEST(MetricsCache, Defect49IsBounded) {
    using Time = MetricsCache::Time;
    auto const at = [](int second) { return Time{std::chrono::seconds{second}}; };
    auto const known = [&](int number, int until) {
        return std::make_shared<MetricsCache::Known>(
            MetricsCache::Known{"s", std::to_string(number), {{"cpu", number}}, at(until)});
    };
    MetricsCache cache{100};
    for (int i = 0; i < 60; ++i) cache.add({known(i, 10)}, at(0));
    for (int i = 60; i < 100; ++i) cache.add({known(i, 20)}, at(0));
    EXPECT_EQ(cache.size(), 100U);
    ASSERT_NE(cache.view().find({"s", "7"}, at(9)), nullptr);
    EXPECT_EQ(cache.view().find({"s", "7"}, at(9))->metrics.at("cpu"), 7);
    EXPECT_EQ(cache.view().find({"s", "7"}, at(10)), nullptr);
    EXPECT_EQ(cache.view().find({"t", "7"}, at(0)), nullptr);
    // What is over makes room first.
    cache.add({known(100, 30)}, at(15));
    EXPECT_EQ(cache.size(), 41U);
    EXPECT_NE(cache.view().find({"s", "60"}, at(15)), nullptr);
    for (int i = 200; i < 300; ++i) cache.add({known(i, 30)}, at(15));
    EXPECT_LE(cache.size(), 100U);
    EXPECT_NE(cache.view().find({"s", "299"}, at(15)), nullptr);
    // The latest counts.
    cache.add({std::make_shared<MetricsCache::Known>(
                  MetricsCache::Known{"s", "299", {{"cpu", 1}}, at(40)})},
              at(15));
    EXPECT_EQ(cache.view().find({"s", "299"}, at(35))->metrics.at("cpu"), 1);
}

}  // namespace
}  // namespace rollcall::streaming

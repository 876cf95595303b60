#include "rollcall/streaming/metrics_provider.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/streaming/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

class RedisMetrics : public StreamingTest {
protected:
    void put(std::string const& id, std::string const& text) {
        redis().must({"HSET", instance_key("orders", id), "metrics", text});
    }

    static RedisMetricsOptions for_long() {
        RedisMetricsOptions options;
        options.cache_for = 1h;
        options.patience = 5s;
        return options;
    }
};

std::vector<ServiceInstance> orders(std::size_t count) {
    std::vector<ServiceInstance> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(an_instance("orders", std::to_string(i)));
    return made;
}

TEST_F(RedisMetrics, AreReadAndRemembered) {
    put("0", R"({"cpu": 25.5, "latency": "12", "name": "x"})");
    RedisMetricsProvider provider{client, {}, for_long()};
    Metrics const expected{{"cpu", 25.5}, {"latency", 12}};
    EXPECT_EQ(provider.metrics("orders", "0"), expected);
    EXPECT_TRUE(provider.metrics("orders", "nobody").empty());
    put("0", R"({"cpu": 99})");
    put("nobody", R"({"cpu": 99})");
    EXPECT_EQ(provider.metrics("orders", "0"), expected);
    EXPECT_TRUE(provider.metrics("orders", "nobody").empty());
}

TEST_F(RedisMetrics, AreReadAgainAfterHalfASecond) {
    put("0", R"({"cpu": 1})");
    RedisMetricsProvider provider{client};
    EXPECT_EQ(provider.metrics("orders", "0"), (Metrics{{"cpu", 1}}));
    put("0", R"({"cpu": 2})");
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([&] { return provider.metrics("orders", "0") == Metrics{{"cpu", 2}}; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 400ms);
}

TEST_F(RedisMetrics, Defect49NullIsNothing) {
    put("0", "null");
    put("1", "[1]");
    put("2", "{");
    RedisMetricsProvider provider{client, {}, for_long()};
    for (auto const* id : {"0", "1", "2"}) EXPECT_TRUE(provider.metrics("orders", id).empty());
}

TEST_F(RedisMetrics, OfAKeyOfAnotherTypeAndBadNamesAreNothing) {
    redis().must({"SET", instance_key("orders", "0"), "text"});
    RedisMetricsProvider provider{client, {}, for_long()};
    EXPECT_TRUE(provider.metrics("orders", "0").empty());
    EXPECT_TRUE(provider.metrics("", "0").empty());
    EXPECT_TRUE(provider.metrics("orders", std::string(100'000, 'x')).empty());
    EXPECT_TRUE(provider.metrics("orders", "a\xff").empty());
}

TEST_F(RedisMetrics, OfManyTakeOneRoundTrip) {
    put("1", R"({"cpu": 10, "latency": 5})");
    put("199", R"({"latency": 7})");
    RoundTrips counted{server()};
    ClientOptions slow = options();
    slow.url = counted.url();
    Client const through{slow};
    RedisMetricsProvider provider{through, {}, for_long()};
    provider.metrics("orders", "first");
    auto const candidates = orders(200);
    std::array<std::string_view, 2> const names{"latency", "cpu"};
    std::vector<double> values(400, -1);
    EXPECT_EQ(counted.of([&] { provider.read("orders", candidates, names, values); }), 1);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[2], 5);
    EXPECT_EQ(values[3], 10);
    EXPECT_EQ(values[398], 7);
    EXPECT_TRUE(std::isnan(values[399]));
    EXPECT_EQ(counted.of([&] { provider.read("orders", candidates, names, values); }), 0);
    EXPECT_EQ(values[2], 5);
}

TEST_F(RedisMetrics, AreNothingWhileRedisIsAwayWithoutLongWaiting) {
    put("0", R"({"cpu": 1})");
    Client const nowhere{"unix:///nowhere/redis.sock"};
    RedisMetricsOptions options;
    options.cache_for = 1h;
    options.patience = 50ms;
    RedisMetricsProvider provider{nowhere, {}, options};
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(provider.metrics("orders", "0").empty());
    // Remembered, so that not every choice waits.
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(provider.metrics("orders", "0").empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(RedisMetrics, GuideTheScore) {
    put("0", R"({"cpu": 95})");
    put("1", R"({"cpu": "20"})");
    ScoredLoadBalancer balancer{{}, std::make_shared<RedisMetricsProvider>(client)};
    auto candidates = orders(2);
    EXPECT_EQ(balancer.choose("orders", candidates, {}), &candidates[1]);
    // Names of callers are those of registrations.
    for (auto& candidate : candidates) candidate.service_name = "or-ders";
    redis().must({"HSET", instance_key("or-ders", "1"), "metrics", R"({"latency": 500})"});
    EXPECT_EQ(balancer.choose("or ders", candidates, {}), &candidates[0]);
}

TEST_F(RedisMetrics, RefuseBadOptions) {
    RedisMetricsOptions options;
    options.cache_for = 0ms;
    EXPECT_THROW((RedisMetricsProvider{client, {}, options}), std::invalid_argument);
    options = {};
    options.patience = -1ms;
    EXPECT_THROW((RedisMetricsProvider{client, {}, options}), std::invalid_argument);
    options = {};
    options.max_instances = 0;
    EXPECT_THROW((RedisMetricsProvider{client, {}, options}), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::streaming::test

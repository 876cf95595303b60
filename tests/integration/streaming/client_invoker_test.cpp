// The client side on a real Redis: found by filters, called, reported.

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/streaming/fixture.hpp"

namespace rollcall::streaming::test {
namespace {

class First final : public LoadBalancer {
public:
    ServiceInstance const* choose(std::string_view, std::span<ServiceInstance const> candidates,
                                  ChooseOptions const&) override {
        return candidates.data();
    }
};

class InvokerOnRedis : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        naming.start();
        store_healthy("eu", 2'000, R"({"cpu":90,"note":1.50})");
        store_healthy("us", 1'000, R"({"cpu":10})");
    }

    void store_healthy(std::string const& region, long long age, std::string const& metrics) {
        auto const metadata = R"({"region":")" + region + "\"}";
        store("orders", region, age,
              {"host", "h", "port", "1", "enabled", "true", "healthy", "true", "metadata", metadata,
               "metrics", metrics});
    }

    std::string metrics_of(std::string const& id) {
        return redis().must({"HGET", instance_key("orders", id), "metrics"}).text;
    }

    RedisNamingService naming{client};
    std::shared_ptr<LoadBalancer> first = std::make_shared<First>();
};

TEST_F(InvokerOnRedis, SelectsByBothKindsOfFiltersThroughAnyConsumer) {
    RedisServiceConsumer consumer{client};
    consumer.start();
    for (InstanceSource* source :
         {static_cast<InstanceSource*>(&naming), static_cast<InstanceSource*>(&consumer)}) {
        ClientSelector const selector{*source};
        auto const select = [&](Filters const& metadata, Filters const& metrics) {
            auto const found = selector.select("orders", metadata, metrics, *first);
            return found ? found->instance_id : "none";
        };
        EXPECT_EQ(select({{"region", "us"}}, {{"cpu:<", "50"}}), "us");
        EXPECT_EQ(select({{"region", "eu"}}, {{"cpu:<", "50"}}), "eu");
        EXPECT_EQ(select({{"region", "ap"}}, {{"cpu:<", "50"}}), "us");
        EXPECT_EQ(select({{"region", "ap"}}, {{"cpu:<", "5"}}), "eu");
    }
}

TEST_F(InvokerOnRedis, CallsAndReports) {
    InvokerOptions options;
    options.reporter = std::make_shared<RedisClientMetricsReporter>(client);
    ClientInvoker invoker{naming, first, options};
    auto const id = invoker.invoke("orders", [&](ServiceInstance const& instance) {
        EXPECT_EQ(metrics_of("eu"), R"({"cpu":90,"note":1.50,"clientInflight":1})");
        return instance.instance_id;
    });
    EXPECT_EQ(id, "eu");
    auto const after = metrics_of("eu");
    auto const begin =
        std::string{R"({"cpu":90,"note":1.50,"clientInflight":0,"clientLatencyMs":)"};
    EXPECT_TRUE(after.starts_with(begin)) << after;
    EXPECT_TRUE(after.ends_with(R"(,"clientErrorRate":0.0})")) << after;
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{1, 1, 0, 0, 0}));
}

// The balancer would choose the one that fails again and again.
TEST_F(InvokerOnRedis, KeepsOffWhatFails) {
    class FirstNotExcluded final : public LoadBalancer {
    public:
        ServiceInstance const* choose(std::string_view, std::span<ServiceInstance const> candidates,
                                      ChooseOptions const& options) override {
            for (auto const& candidate : candidates) {
                if (std::ranges::count(options.exclude, candidate.instance_id) == 0) {
                    return &candidate;
                }
            }
            return nullptr;
        }
    };
    ClientInvoker invoker{naming, std::make_shared<FirstNotExcluded>()};
    std::vector<std::string> called;
    for (int i = 0; i < 3; ++i) {
        invoker.invoke("orders", [&](ServiceInstance const& instance) {
            called.push_back(instance.instance_id);
            if (instance.instance_id == "eu") throw std::runtime_error{"down"};
        });
    }
    EXPECT_EQ(called, (std::vector<std::string>{"eu", "us", "us", "us"}));
}

}  // namespace
}  // namespace rollcall::streaming::test

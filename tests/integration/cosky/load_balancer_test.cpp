// The balancers over the discovery that they follow: the faults of the design's absent.

#include "rollcall/cosky/load_balancer.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/cosky/fixture.hpp"

namespace rollcall::cosky::test {
namespace {

class Balancers : public CoskyTest {
protected:
    void SetUp() override {
        CoskyTest::SetUp();
        // As whoever keeps instances registered writes it: absence proves something.
        redis().must({"SET", ns + ":rollcall:epoch", "an epoch"});
    }

    void put(int port, int weight) {
        auto described = an_instance("order", port);
        described.weight = weight;
        registry.register_instance(ns, described);
    }

    /// How often each port is chosen.
    static std::map<int, int> chosen(LoadBalancer& balancer, int times = 3000) {
        std::map<int, int> counted;
        for (int i = 0; i < times; ++i) {
            auto const choice = balancer.choose(ns, "order");
            ++counted[choice ? choice->port : 0];
        }
        return counted;
    }

    std::vector<std::shared_ptr<LoadBalancer>> by_weight() {
        return {std::make_shared<ArrayWeightRandomLoadBalancer>(discovery),
                std::make_shared<BinaryWeightRandomLoadBalancer>(discovery),
                std::make_shared<TreeWeightRandomLoadBalancer>(discovery)};
    }
    std::vector<std::shared_ptr<LoadBalancer>> all() {
        auto balancers = by_weight();
        balancers.push_back(std::make_shared<RandomLoadBalancer>(discovery));
        return balancers;
    }

    RedisServiceRegistry registry{client};
    std::shared_ptr<ConsistencyRedisServiceDiscovery> discovery =
        std::make_shared<ConsistencyRedisServiceDiscovery>(client, nullptr);
};

TEST_F(Balancers, ChooseNobodyWhereNobodyIs) {
    for (auto const& balancer : all()) EXPECT_FALSE(balancer->choose(ns, "order"));
}

TEST_F(Balancers, ChooseInProportionToTheWeights) {
    put(1, 1);
    put(2, 2);
    put(3, 0);
    for (auto const& balancer : by_weight()) {
        auto const counted = chosen(*balancer);
        EXPECT_EQ(counted.size(), 2U);
        EXPECT_NEAR(counted.at(1), 1000, 150);
        EXPECT_NEAR(counted.at(2), 2000, 150);
    }
}

TEST_F(Balancers, Defect49FollowEveryEventAndNeverFreeze) {
    put(1, 1);
    for (auto const& balancer : all()) ASSERT_EQ(chosen(*balancer, 10).count(1), 1U);
    put(2, 1);
    for (auto const& balancer : all()) {
        EXPECT_TRUE(eventually([&] { return chosen(*balancer, 100).size() == 2; }));
    }
    // A connection that breaks ends nothing.
    redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    registry.deregister(ns, "order", id_of("order", 1));
    put(3, 1);
    for (auto const& balancer : all()) {
        EXPECT_TRUE(eventually([&] {
            auto const counted = chosen(*balancer, 100);
            return !counted.contains(1) && counted.contains(2) && counted.contains(3);
        }));
    }
}

TEST_F(Balancers, Defect50NeverChooseWhoHasExpired) {
    RegistryProperties properties;
    properties.instance_ttl = 1s;
    RedisServiceRegistry brief{client, properties};
    brief.register_instance(ns, an_instance("order", 7));
    for (auto const& balancer : all()) ASSERT_EQ(chosen(*balancer, 10).count(7), 1U);
    // Nobody has to say so. Whoever asks Redis finds it gone; the views follow.
    for (auto const& balancer : all()) {
        EXPECT_TRUE(eventually([&] { return chosen(*balancer, 10).count(0) == 1; }));
    }
    EXPECT_TRUE(RedisServiceDiscovery{client}.instances(ns, "order").empty());
}

TEST_F(Balancers, Defect51TakeNegativeAndGreatWeights) {
    constexpr auto most = 2'147'483'647;
    put(1, most);
    put(2, most);
    put(3, most);
    put(4, 1);
    redis().must(
        {"HSET", DiscoveryKeyGenerator::instance_key(ns, id_of("order", 4)), "weight", "-5"});
    for (auto const& balancer : by_weight()) {
        auto const counted = chosen(*balancer);
        EXPECT_EQ(counted.size(), 3U);
        for (auto const& [port, count] : counted) EXPECT_NEAR(count, 1000, 150) << port;
    }
}

TEST_F(Balancers, Defect52WhoIsDrainedGetsNothing) {
    put(1, 5);
    put(2, 0);
    put(3, 1);
    RandomLoadBalancer balancer{discovery};
    auto const counted = chosen(balancer);
    EXPECT_EQ(counted.size(), 2U);
    EXPECT_NEAR(counted.at(1), 1500, 200);
    EXPECT_NEAR(counted.at(3), 1500, 200);
}

TEST_F(Balancers, ReportErrorsAndForgetThem) {
    RandomLoadBalancer balancer{discovery};
    EXPECT_THROW(balancer.choose(ns, " "), std::invalid_argument);
    EXPECT_THROW(balancer.choose("a:b", "order"), std::invalid_argument);
    EXPECT_THROW(RandomLoadBalancer{nullptr}, std::invalid_argument);
    EXPECT_THROW(TreeWeightRandomLoadBalancer{nullptr}, std::invalid_argument);
    Client const nowhere{
        ClientOptions{.url = "unix:///nowhere/redis.sock", .request_timeout = 50ms}};
    BinaryWeightRandomLoadBalancer lost{
        std::make_shared<ConsistencyRedisServiceDiscovery>(nowhere, nullptr)};
    std::error_code error;
    EXPECT_FALSE(lost.choose(ns, "order", error));
    EXPECT_TRUE(error);
    EXPECT_THROW(lost.choose(ns, "order"), Error);
}

TEST_F(Balancers, ReadWhatIsWatchedAndKeepItWatched) {
    put(1, 1);
    ASSERT_EQ(discovery->snapshot(ns, "order").size(), 1U);
    std::error_code error = make_error_code(errc::timeout);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(discovery->snapshot(ns, "order", error).begin()->port, 1);
        ASSERT_FALSE(error);
    }
    // Other options of reads and a full directory give the same.
    ConsistencyOptions strict;
    strict.reads.on_failure = ServiceOptions::OnFailure::error;
    ConsistencyRedisServiceDiscovery careful{client, nullptr, strict};
    EXPECT_EQ(careful.snapshot(ns, "order").size(), 1U);
    EXPECT_EQ(careful.snapshot(ns, "order").begin()->port, 1);
    ConsistencyOptions none;
    none.max_services = 0;
    ConsistencyRedisServiceDiscovery full{client, nullptr, none};
    auto const asked = full.snapshot(ns, "order");
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked.begin()->port, 1);
    EXPECT_TRUE(asked.state(id_of("order", 1))->lease_until.has_value());
}

}  // namespace
}  // namespace rollcall::cosky::test

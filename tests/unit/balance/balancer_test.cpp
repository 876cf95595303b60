#include "rollcall/balancer.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>

#include "balance/plan.hpp"

namespace rollcall::balance {
namespace {

using namespace std::chrono_literals;

TEST(Balancer, IsFoundByItsName) {
    for (auto const* const known : {"weighted-random", "round-robin", "least-outstanding",
                                    "lowest-latency", "consistent-hash"}) {
        auto const found = find_balancer(known);
        ASSERT_TRUE(found) << known;
        EXPECT_EQ(name(*found), known);
    }
    EXPECT_FALSE(find_balancer(""));
    EXPECT_FALSE(find_balancer("Round-Robin"));
    EXPECT_EQ(find_balancer("consistent-hash"), Balancer{ConsistentHash{.points = 128}});
    EXPECT_NE(Balancer{ConsistentHash{.points = 127}}, Balancer{ConsistentHash{}});
}

/// What is refused, or nothing.
std::string refused(Policy const& policy) {
    try {
        validate(policy);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return {};
}

TEST(Balancer, RefusesWhatMakesNoSense) {
    Policy policy;
    EXPECT_EQ(refused(policy), "");
    policy.balancer = ConsistentHash{.points = 0};
    EXPECT_EQ(refused(policy), "balancer.points \"0\": must be from 1 to 4096");
    policy.balancer = ConsistentHash{.points = 4'097};
    EXPECT_NE(refused(policy), "");
    policy.balancer = LowestLatency{.half_life = 0ms};
    EXPECT_NE(refused(policy).find("balancer.half_life"), std::string::npos);
    policy = {};
    for (auto const enough : {0.0, -1.0, 1.001, std::numeric_limits<double>::quiet_NaN()}) {
        policy.locality.enough = enough;
        EXPECT_NE(refused(policy).find("locality.enough"), std::string::npos) << enough;
    }
    policy = {};
    policy.slow_start = -1ms;
    EXPECT_NE(refused(policy).find("slow_start"), std::string::npos);
    policy = {};
    policy.ejection.longest_time = policy.ejection.base_time - 1ms;
    EXPECT_NE(refused(policy).find("ejection.longest_time"), std::string::npos);
    policy = {};
    policy.ejection.at_most = 1.5;
    EXPECT_NE(refused(policy).find("ejection.at_most"), std::string::npos);
}

TEST(Balancer, SharesOnePlanAmongHandlesOfOnePolicy) {
    Plans plans;
    Policy other;
    other.balancer = RoundRobin{};
    auto const first = plans.get({});
    EXPECT_EQ(plans.get({}), first);
    EXPECT_NE(plans.get(other), first);
    EXPECT_TRUE(plans.in_use().empty());
    first->note_use();
    ASSERT_EQ(plans.in_use().size(), 1U);
    EXPECT_TRUE(plans.in_use().empty()) << "nobody has chosen since";
}

}  // namespace
}  // namespace rollcall::balance

// Those balancers that look at the calls, over ten thousands of them on virtual time.

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "support/call_simulation.hpp"
#include "support/crowd.hpp"

namespace rollcall::balance {
namespace {

using namespace std::chrono_literals;
using rollcall::test::CallSimulation;
using rollcall::test::Crowd;
using rollcall::test::Handle;

class LatencyBalancer : public testing::TestWithParam<Balancer> {
protected:
    static Policy policy() {
        Policy made;
        made.balancer = GetParam();
        return made;
    }
    void expect_share_of_the_failing_at_most(double calls_a_second, double at_most);
};

INSTANTIATE_TEST_SUITE_P(Balancer, LatencyBalancer,
                         testing::Values(LeastOutstanding{}, LowestLatency{}), [](auto const& one) {
                             auto text = std::string{name(one.param)};
                             std::erase(text, '-');
                             return text;
                         });

// Card BC-11: nine succeed in 20 ms, one fails in 1 ms.
void LatencyBalancer::expect_share_of_the_failing_at_most(double calls_a_second, double at_most) {
    auto crowd = Crowd::of(10);
    Handle handle{crowd, policy()};
    CallSimulation simulation{crowd, {&handle}, {.calls_a_second = calls_a_second}};
    for (std::size_t i = 0; i < 10; ++i) {
        simulation.behaviour(i).varies = false;
        simulation.behaviour(i).workers = 1'000;
    }
    simulation.behaviour(4).failing = 1;
    simulation.run(5'000);
    auto const first = simulation.share(4);
    auto const half = simulation.calls().size();
    simulation.run(5'000);
    EXPECT_LE(first, at_most);
    EXPECT_LE(simulation.share(4, half), first) << "less over time";

    // A newcomer of which nothing is known.
    auto const number = crowd.add(1);
    handle.look();
    simulation.behaviour(number).varies = false;
    simulation.behaviour(number).workers = 1'000;
    auto const before = simulation.calls().size();
    simulation.run(1'000);
    EXPECT_LE(simulation.share(number, before), 2.0 / 11);
    EXPECT_GT(simulation.share(number, before), 0.5 / 11);
}

TEST_P(LatencyBalancer, DoesNotLoveWhoFailsFast) {
    for (double const calls_a_second : {10.0, 100.0, 1'000.0, 20'000.0}) {
        SCOPED_TRACE(calls_a_second);
        expect_share_of_the_failing_at_most(calls_a_second, 0.105);
    }
}

TEST_P(LatencyBalancer, LetsHimComeBackWhoFailedLongAgo) {
    auto crowd = Crowd::of(10);
    Handle handle{crowd, policy()};
    CallSimulation simulation{crowd, {&handle}, {.calls_a_second = 200}};
    simulation.behaviour(4).failing = 1;
    simulation.run_for(60s);
    simulation.behaviour(4).failing = 0;
    simulation.run_for(60s);
    auto const before = simulation.calls().size();
    simulation.run_for(60s);
    EXPECT_GT(simulation.share(4, before), 0.04);
}

TEST_P(LatencyBalancer, DoesNotPreferWhoNeverEnds) {
    auto crowd = Crowd::of(10);
    Handle handle{crowd, policy()};
    CallSimulation simulation{crowd, {&handle}, {}};
    simulation.behaviour(4).ends = false;
    simulation.run(10'000);
    EXPECT_LT(simulation.share(4), 0.1);
}

TEST_P(LatencyBalancer, PrefersWhoIsIdle) {
    auto crowd = Crowd::of(3);
    Handle handle{crowd, policy()};
    for (int i = 0; i < 3; ++i) crowd.stats(0).begin();
    crowd.stats(1).begin();
    auto const counted = handle.counts(30'000);
    EXPECT_EQ(counted[0], 0U) << "of any two it is the busier one";
    EXPECT_NEAR(static_cast<double>(counted[1]), 10'000, 400);
    EXPECT_NEAR(static_cast<double>(counted[2]), 20'000, 400);
    for (int i = 0; i < 3; ++i) handle.end(0, CallOutcome::cancelled);
    handle.end(1, CallOutcome::cancelled);
    EXPECT_EQ(crowd.stats(0).outstanding, 0) << "what is dropped is no longer outstanding";
    EXPECT_NEAR(static_cast<double>(handle.counts(30'000)[0]), 10'000, 400);
}

TEST_P(LatencyBalancer, ExpectsMoreOfWhoWeighsMore) {
    Crowd crowd{1, 10};
    Handle handle{crowd, policy()};
    for (int i = 0; i < 5; ++i) crowd.stats(1).begin();
    crowd.stats(0).begin();
    EXPECT_GT(handle.counts(1'000)[1], 800U) << "five of ten are fewer than one of one";
}

TEST(LowestLatency, SendsLessToWhoIsSlow) {
    auto crowd = Crowd::of(10);
    Handle handle{crowd, {.balancer = LowestLatency{}}};
    CallSimulation simulation{crowd, {&handle}, {}};
    simulation.behaviour(4).takes = 200ms;
    simulation.run(2'000);
    auto const before = simulation.calls().size();
    simulation.run(20'000);
    EXPECT_LT(simulation.share(4, before), 0.02);
    simulation.behaviour(4).takes = 20ms;
    simulation.run(40'000);
    auto const later = simulation.calls().size();
    simulation.run(20'000);
    EXPECT_GT(simulation.share(4, later), 0.05) << "who is fast again gets its share again";
}

}  // namespace
}  // namespace rollcall::balance

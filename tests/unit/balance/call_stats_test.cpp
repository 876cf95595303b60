#include "balance/call_stats.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>

namespace rollcall::balance {
namespace {

using namespace std::chrono_literals;
using Time = Moment::Time;

constexpr auto half = 5s;

double milliseconds(CallStats const& stats, Time now) {
    return static_cast<double>(stats.latency_at(Moment{now}, half)) / 1e6;
}

TEST(CallStats, KnowsNothingAtFirst) {
    CallStats const stats;
    Moment moment;
    EXPECT_EQ(stats.latency_at(moment, half), 0);
    EXPECT_EQ(stats.failing_at(moment), 0);
    EXPECT_FALSE(stats.is_out(Time::max()));
    EXPECT_FALSE(moment.known()) << "nobody had to look at the clock";
}

TEST(CallStats, CountsAnOldLatencyHalfAfterItsHalfLife) {
    CallStats stats;
    Time now{1h};
    stats.measure(100ms, now, half);
    EXPECT_NEAR(milliseconds(stats, now), 100, 0.01);
    stats.measure(20ms, now += half, half);
    EXPECT_NEAR(milliseconds(stats, now), 60, 0.01);
    // Many in no time count no more than one.
    for (int i = 0; i < 100; ++i) stats.measure(20ms, now, half);
    EXPECT_NEAR(milliseconds(stats, now), 60, 0.01);
}

TEST(CallStats, NoticesAtOnceWhoGetsSlow) {
    CallStats stats;
    Time now{1h};
    stats.measure(20ms, now, half);
    for (int i = 0; i < 4; ++i) stats.measure(1s, now += 1ms, half);
    EXPECT_GT(milliseconds(stats, now), 600);
}

TEST(CallStats, ForgetsALatencyThatNobodyRenews) {
    CallStats stats;
    Time now{1h};
    stats.measure(100ms, now, half);
    EXPECT_GT(milliseconds(stats, now + 4 * half - 1ms), 0);
    EXPECT_EQ(milliseconds(stats, now + 4 * half), 0);
    stats.measure(20ms, now + 4 * half, half);
    EXPECT_NEAR(milliseconds(stats, now + 4 * half), 20, 0.01) << "it begins afresh";
    EXPECT_GT(stats.latency_at(Moment{}, half), 0) << "without a time nothing is old";
}

TEST(CallStats, LearnsNoLatencyFromAFastFailure) {
    CallStats stats;
    Time now{1h};
    stats.fail(1us, now, half);
    EXPECT_EQ(milliseconds(stats, now), 0);
    stats.measure(20ms, now, half);
    stats.fail(1us, now += 1s, half);
    EXPECT_NEAR(milliseconds(stats, now), 20, 0.01);
    stats.fail(2s, now += 1s, half);
    EXPECT_GT(milliseconds(stats, now), 400) << "a slow one is";
}

TEST(CallStats, KnowsWhichPartOfTheLastCallsFailed) {
    CallStats stats;
    Time now{1h};
    Moment moment{now};
    stats.fail({}, now, half);
    EXPECT_LT(stats.failing_at(moment), 0.25) << "one failure is an accident";
    for (int i = 0; i < 50; ++i) stats.fail({}, now, half);
    EXPECT_GT(stats.failing_at(moment), 0.95);
    for (int i = 0; i < 100; ++i) {
        stats.fail({}, now, half);
        stats.succeed(moment);
    }
    EXPECT_NEAR(stats.failing_at(moment), 0.5, 0.1);
    for (int i = 0; i < 50; ++i) stats.succeed(moment);
    EXPECT_EQ(stats.failing_at(moment), 0);
}

TEST(CallStats, ForgivesFailuresThatWereLongAgo) {
    CallStats stats;
    Time now{1h};
    for (int i = 0; i < 50; ++i) stats.fail({}, now, half);
    Moment later{now + 20s};
    EXPECT_EQ(stats.failing_at(later), 0);
    stats.fail({}, later.get(), half);
    EXPECT_GT(stats.failing_at(later), 0.9) << "but not for good";
    Moment latest{now + 40s};
    stats.succeed(latest);
    stats.fail({}, latest.get(), half);
    EXPECT_LT(stats.failing_at(latest), 0.25) << "unless it succeeded";
}

TEST(CallStats, StaysOutLongerEachTimeUpToALimit) {
    OutlierEjection const rule{.base_time = 10s, .longest_time = 25s};
    CallStats stats;
    Time now{1h};
    for (auto const expected : {10s, 20s, 25s, 25s}) {
        stats.put_out(rule, now);
        EXPECT_TRUE(stats.is_out(now + expected - 1ms));
        EXPECT_FALSE(stats.is_out(now + expected));
        now += expected;
    }
    Moment moment{now};
    stats.succeed(moment);
    stats.put_out(rule, now);
    EXPECT_FALSE(stats.is_out(now + 10s)) << "a success begins afresh";
}

TEST(CallStats, TakesAnyTime) {
    CallStats stats;
    Time now{1h};
    stats.measure(-1s, now, half);
    stats.measure(std::chrono::nanoseconds::max(), now, half);
    stats.measure(0s, now - 1h, half);
    EXPECT_GE(milliseconds(stats, now), 0);
    stats.times_out = std::numeric_limits<std::uint32_t>::max() - 1;
    stats.put_out({.base_time = 24h * 365, .longest_time = 24h * 365}, now);
    EXPECT_TRUE(stats.is_out(now + 1h));
}

}  // namespace
}  // namespace rollcall::balance

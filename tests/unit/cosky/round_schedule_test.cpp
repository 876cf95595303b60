#include "cosky/round_schedule.hpp"

#include <gtest/gtest.h>
#include <set>

namespace rollcall::cosky {
namespace {

using namespace std::chrono_literals;
using Clock = RoundSchedule::Clock;

TEST(RoundSchedule, Defect30_JitterOnlyShortensAndByATenthAtMost) {
    auto const start = Clock::time_point{} + 5s;
    RoundSchedule schedule{start, 1'000ms, std::minstd_rand{7}};
    EXPECT_EQ(schedule.next(), start);
    std::set<Clock::duration> pauses;
    for (int i = 0; i < 10'000; ++i) {
        auto const before = schedule.next();
        schedule.advance(before);
        pauses.insert(schedule.next() - before);
    }
    EXPECT_EQ(*pauses.begin(), 900ms);
    EXPECT_EQ(*pauses.rbegin(), 1'000ms);
    EXPECT_EQ(pauses.size(), 101u) << "all that lies between";
}

TEST(RoundSchedule, ARoundThatTookLongerIsFollowedAtOnceByOne) {
    auto const start = Clock::time_point{} + 5s;
    RoundSchedule schedule{start, 10ms, std::minstd_rand{7}};
    schedule.advance(start + 95ms);
    EXPECT_EQ(schedule.next(), start + 95ms);
    schedule.advance(start + 96ms);
    EXPECT_GE(schedule.next(), start + 95ms + 9ms);
}

TEST(RoundSchedule, APeriodBelowTenMillisecondsHasNoJitter) {
    auto const start = Clock::time_point{} + 5s;
    RoundSchedule schedule{start, 9ms, std::minstd_rand{7}};
    schedule.advance(start);
    EXPECT_EQ(schedule.next(), start + 9ms);
}

}  // namespace
}  // namespace rollcall::cosky

#include "invoke/invocation.hpp"

#include <gtest/gtest.h>

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using Next = Invocation::Next;
using TimePoint = Invocation::TimePoint;

constexpr TimePoint at(std::chrono::milliseconds time) { return TimePoint{time}; }

RetryPolicy policy(int attempts) { return RetryPolicy{attempts, 10ms, 2.0, 200ms, 0ms}; }

TEST(Invocation, EndsWithTheFirstSuccess) {
    auto const with = policy(3);
    Invocation invocation{with, {}};
    EXPECT_EQ(invocation.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(invocation.succeeded(), Next::end);
    EXPECT_EQ(invocation.attempts(), 1);
}

TEST(Invocation, WaitsLongerEachTimeAndNotAfterTheLast) {
    auto const with = policy(3);
    Invocation invocation{with, {}};
    EXPECT_EQ(invocation.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(invocation.failed(at(5ms)), Next::wait);
    EXPECT_EQ(invocation.wait_end(), at(15ms));
    EXPECT_EQ(invocation.waited(at(15ms)), Next::attempt);
    EXPECT_EQ(invocation.failed(at(20ms)), Next::wait);
    EXPECT_EQ(invocation.wait_end(), at(40ms));
    EXPECT_EQ(invocation.waited(at(40ms)), Next::attempt);
    EXPECT_EQ(invocation.failed(at(50ms)), Next::end);
    EXPECT_EQ(invocation.attempts(), 3);
}

TEST(Invocation, BeginsNoPauseThatTheDeadlineWouldEnd) {
    auto const with = policy(3);
    Invocation in_time{with, at(11ms)};
    EXPECT_EQ(in_time.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(in_time.failed(at(0ms)), Next::wait);
    EXPECT_EQ(in_time.waited(at(10ms)), Next::attempt);
    EXPECT_EQ(in_time.failed(at(10ms)), Next::end);

    Invocation just_late{with, at(10ms)};
    EXPECT_EQ(just_late.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(just_late.failed(at(0ms)), Next::end);
}

TEST(Invocation, AttemptsNothingAtTheDeadline) {
    auto const with = policy(3);
    Invocation late{with, at(10ms)};
    EXPECT_EQ(late.begin(at(10ms)), Next::end);
    EXPECT_EQ(late.attempts(), 0);

    Invocation overslept{with, at(11ms)};
    EXPECT_EQ(overslept.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(overslept.failed(at(0ms)), Next::wait);
    EXPECT_EQ(overslept.waited(at(12ms)), Next::end);
}

TEST(Invocation, OneAttemptNeverWaits) {
    auto const with = policy(1);
    Invocation invocation{with, {}};
    EXPECT_EQ(invocation.begin(at(0ms)), Next::attempt);
    EXPECT_EQ(invocation.failed(at(0ms)), Next::end);
}

}  // namespace
}  // namespace rollcall::streaming

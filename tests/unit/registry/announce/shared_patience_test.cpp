#include "registry/announce/shared_patience.hpp"

#include <gtest/gtest.h>

namespace rollcall::announce {
namespace {

using namespace std::chrono_literals;

constexpr SharedPatience::Time start{1'000'000s};

TEST(SharedPatience, OneMayHaveAllOfIt) {
    SharedPatience patience{1s};
    EXPECT_EQ(patience.share(start), 1s);
    patience.use(1s);
    EXPECT_EQ(patience.share(start), 0s);
    EXPECT_EQ(patience.rest(start), 0s);
}

TEST(SharedPatience, ManyThatHardlyWaitLeaveHalfForTheEndOfAll) {
    SharedPatience patience{1s};
    auto now = start;
    auto waited = 0ms;
    for (int i = 0; i < 10'000; ++i) {
        if (patience.share(now) == 0s) continue;
        patience.use(1ms);
        waited += 1ms;
        now += 1ms;
    }
    EXPECT_GE(waited, 500ms);
    EXPECT_LE(waited, 600ms);
    EXPECT_GE(patience.rest(now), 400ms);
    EXPECT_LE(waited + patience.rest(now), 1'100ms);
}

TEST(SharedPatience, WhatIsUsedUpComesBackSlowly) {
    SharedPatience patience{1s};
    ASSERT_EQ(patience.share(start), 1s);
    patience.use(2s);
    EXPECT_EQ(patience.share(start + 5s), 0s);
    EXPECT_EQ(patience.share(start + 6s), 600ms);
    EXPECT_EQ(patience.share(start + 1min), 1s) << "and never more";
}

TEST(SharedPatience, ThoseWhoNeedALittleNowAndThenWaitForever) {
    SharedPatience patience{1s};
    auto now = start;
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_GT(patience.share(now), 0s) << i;
        patience.use(10ms);
        now += 110ms;
    }
}

TEST(SharedPatience, ATimeThatWentByBeforeIsNone) {
    SharedPatience patience{1s};
    patience.use(1s);
    EXPECT_EQ(patience.rest(start), 0s) << "nothing is known of before";
    EXPECT_EQ(patience.rest(start - 1s), 0s);
}

}  // namespace
}  // namespace rollcall::announce

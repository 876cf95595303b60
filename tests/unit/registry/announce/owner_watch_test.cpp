#include "registry/announce/owner_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::announce {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class OwnerWatchTest : public testing::Test {
protected:
    /// Whether another owner is told of, when the lease is seen to end later by so much.
    bool next_look(std::chrono::milliseconds later, std::chrono::milliseconds took = 0ms) {
        watch.note(1, until, took);
        return watch.compare(1, until + later);
    }

    OwnerWatch::Time const until{1'000s};
    OwnerWatch watch;
};

TEST_F(OwnerWatchTest, TellsOfTwoRenewalsInARow) {
    EXPECT_FALSE(next_look(5s));
    EXPECT_THAT(watch.suspected(), ElementsAre(1));
    EXPECT_TRUE(next_look(5s));
    EXPECT_THAT(watch.suspected(), IsEmpty()) << "it is told";
}

TEST_F(OwnerWatchTest, TellsOnceUntilALookFindsNone) {
    next_look(5s);
    EXPECT_TRUE(next_look(5s));
    EXPECT_FALSE(next_look(5s));
    EXPECT_FALSE(next_look(0s));
    EXPECT_FALSE(next_look(5s));
    EXPECT_TRUE(next_look(5s));
}

TEST_F(OwnerWatchTest, ALeapOfTheClockIsNoOwner) {
    EXPECT_FALSE(next_look(1h));
    EXPECT_FALSE(next_look(0s));
    EXPECT_THAT(watch.suspected(), IsEmpty());
}

TEST_F(OwnerWatchTest, ASlowLookMayHaveSeenLess) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(next_look(500ms, 500ms));
    EXPECT_THAT(watch.suspected(), IsEmpty());
    next_look(520ms, 500ms);
    EXPECT_TRUE(next_look(520ms, 500ms));
}

TEST_F(OwnerWatchTest, WhatWeWroteOurselvesIsNotCompared) {
    for (int i = 0; i < 3; ++i) {
        watch.note(1, until, 0ms);
        EXPECT_THAT(watch.noted(), ElementsAre(1));
        watch.forget(1);
        EXPECT_THAT(watch.noted(), IsEmpty());
        EXPECT_FALSE(watch.compare(1, until + 5s));
    }
    next_look(5s);
    watch.remove(1);
    EXPECT_FALSE(next_look(5s)) << "of a new one nothing is known";
}

}  // namespace
}  // namespace rollcall::announce

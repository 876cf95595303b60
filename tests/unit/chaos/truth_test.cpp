#include "chaos/truth.hpp"

#include <gtest/gtest.h>

namespace rollcall::chaos {
namespace {

using namespace std::chrono_literals;

class TruthTest : public testing::Test {
protected:
    static Time at(std::chrono::milliseconds time) { return Time{1h} + time; }
    void shows(std::chrono::milliseconds now, std::vector<Shown> const& shown) {
        truth.sample(0, "web", shown, at(now));
    }
    double hidden() const { return truth.figures().hidden_max.count(); }
    double lingering() const { return truth.figures().lingering_max.count(); }

    Truth truth{6s};
};

TEST_F(TruthTest, WhoIsAcknowledgedAndMissingIsHidden) {
    truth.acknowledged("web", "a", at(0s));
    shows(300ms, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.3);
    shows(400ms, {{"a", false}});
    shows(2'500ms, {});
    EXPECT_DOUBLE_EQ(hidden(), 2.5) << "it was there, and its owner lives";
    EXPECT_EQ(truth.figures().hidden_example, "web/a");
}

TEST_F(TruthTest, NobodyIsHiddenWhileThePathsAreBroken) {
    truth.acknowledged("web", "a", at(0s));
    truth.clean_from(at(5s));
    shows(3s, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.0);
    shows(6s, {});
    EXPECT_DOUBLE_EQ(hidden(), 1.0);
}

TEST_F(TruthTest, AfterALossOnlyWhoWasKnownOrIsBackIsExpected) {
    truth.acknowledged("web", "known", at(0s));
    truth.acknowledged("web", "unknown", at(0s));
    shows(0s, {{"known", false}});
    truth.data_lost(at(1s));
    shows(2s, {{"known", true}});
    EXPECT_DOUBLE_EQ(hidden(), 0.0);
    shows(2s, {});
    EXPECT_DOUBLE_EQ(hidden(), 2.0);
    truth.acknowledged("web", "unknown", at(1'400ms));
    shows(2'900ms, {{"known", true}});
    EXPECT_DOUBLE_EQ(hidden(), 2.0) << "it may have been stored just before";
    truth.acknowledged("web", "unknown", at(3s));
    shows(7s, {{"known", true}});
    EXPECT_DOUBLE_EQ(hidden(), 4.0);
    EXPECT_EQ(truth.figures().hidden_example, "web/unknown");
}

TEST_F(TruthTest, WhoLeavesIsNotHiddenAndMayLingerForItsLease) {
    truth.acknowledged("web", "a", at(0s));
    truth.leaving("web", "a");
    shows(1s, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.0);
    truth.abandoned("web", "a", at(2s));
    shows(8s, {{"a", false}});
    EXPECT_DOUBLE_EQ(lingering(), 0.0);
    shows(9'500ms, {{"a", false}});
    EXPECT_DOUBLE_EQ(lingering(), 1.5);
}

TEST_F(TruthTest, TheStoredLeaseEndsALifeNotTheDeathOfTheOwner) {
    truth.acknowledged("web", "a", at(0s));
    truth.leased("web", "a", at(6s));
    truth.abandoned("web", "a", at(4s));
    shows(6'500ms, {{"a", false}});
    EXPECT_DOUBLE_EQ(lingering(), 0.5);
    truth.leased("web", "a", at(20s));
    shows(20'200ms, {{"a", false}});
    EXPECT_DOUBLE_EQ(lingering(), 0.5) << "a heartbeat was on its way";
}

TEST_F(TruthTest, WhoLapsedIsNotExpectedUntilItIsRegisteredAgain) {
    truth.acknowledged("web", "a", at(0s));
    truth.lapsed("web", "a");
    shows(2s, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.0);
    EXPECT_FALSE(truth.is_healthy("web", "a"));
    truth.acknowledged("web", "a", at(3s));
    shows(4s, {});
    EXPECT_DOUBLE_EQ(hidden(), 1.0);
}

TEST_F(TruthTest, WhereNothingIsPromisedIsCountedApart) {
    truth.acknowledged("web", "a", at(0s));
    truth.unpromised("web", "a");
    shows(3s, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.0);
    EXPECT_DOUBLE_EQ(truth.figures().unpromised_max.count(), 3.0);
    truth.acknowledged("web", "a", at(4s));
    shows(4'500ms, {});
    EXPECT_DOUBLE_EQ(hidden(), 0.5);
}

TEST_F(TruthTest, WhoIsRegisteredAgainAfterItsReleaseIsNotResurrected) {
    truth.acknowledged("web", "a", at(0s));
    shows(0s, {{"a", false}});
    truth.leaving("web", "a");
    truth.released("web", "a", at(1s));
    shows(2s, {});
    EXPECT_TRUE(truth.is_released("web", "a"));
    truth.entering("web", "a");
    shows(3s, {{"a", false}});
    EXPECT_EQ(truth.figures().resurrected, 0U);
    EXPECT_EQ(truth.healthy(), 0U) << "not acknowledged yet";
    truth.acknowledged("web", "a", at(3s));
    shows(5s, {});
    EXPECT_DOUBLE_EQ(hidden(), 2.0);
}

TEST_F(TruthTest, SuspicionGivesALeaseFromItsStart) {
    truth.acknowledged("web", "a", at(0s));
    truth.abandoned("web", "a", at(0s));
    shows(5s, {{"a", true}});
    shows(10s, {{"a", true}});
    EXPECT_DOUBLE_EQ(lingering(), 0.0);
    shows(12s, {{"a", true}});
    EXPECT_DOUBLE_EQ(lingering(), 1.0);
}

TEST_F(TruthTest, WhatComesBackAfterItsReleaseIsResurrected) {
    truth.acknowledged("web", "a", at(0s));
    shows(0s, {{"a", false}});
    truth.leaving("web", "a");
    truth.released("web", "a", at(1s));
    shows(1s, {{"a", false}});
    EXPECT_EQ(truth.figures().resurrected, 0U) << "not seen yet";
    shows(2s, {});
    shows(3s, {{"a", false}});
    shows(4s, {{"a", false}});
    EXPECT_EQ(truth.figures().resurrected, 1U);
}

TEST_F(TruthTest, CountsDuplicatesAndErrors) {
    shows(0s, {{"a", false}, {"a", false}});
    truth.reader_failed();
    EXPECT_EQ(truth.figures().duplicates, 1U);
    EXPECT_EQ(truth.figures().reader_errors, 1U);
    EXPECT_EQ(truth.figures().samples, 1U);
}

}  // namespace
}  // namespace rollcall::chaos

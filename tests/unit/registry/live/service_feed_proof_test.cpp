#include <gmock/gmock.h>

#include "unit/registry/live/service_feed_fixture.hpp"

/// What it takes until a feed believes that an instance is gone.
namespace rollcall::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ServiceFeedTest, AnExpiredMessageIsProvenFirst) {
    load({alive("a", 80, 5s)});
    now += 5s;
    feed.message("a", News::expired, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), IsEmpty());
    auto const question = read();
    EXPECT_TRUE(question.proof);
    auto const outcome = answer(question, {only("a", Presence::hollow)});
    EXPECT_THAT(told(outcome), ElementsAre("removed a expired"));
    EXPECT_THAT(outcome.hollow, ElementsAre("a"));
}

TEST_F(ServiceFeedTest, AHollowEntryBeforeTheDeadlineIsSuspectAndNotCleanedUp) {
    load({alive("a")});
    feed.message("a", News::expired, now);
    answer(read(), {only("a", Presence::hollow)});
    auto const outcome = answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(outcome), ElementsAre("suspect a"));
    EXPECT_THAT(outcome.hollow, IsEmpty());
}

TEST_F(ServiceFeedTest, AHollowEntryThatNobodyKnowsIsCleanedUp) {
    EXPECT_THAT(load({only("x", Presence::hollow)}).hollow, ElementsAre("x"));
}

TEST_F(ServiceFeedTest, AbsenceWithinOneGenerationIsProof) {
    load({alive("a"), alive("b")});
    feed.lost(now);
    EXPECT_THAT(told(load({alive("b")})), IsEmpty()) << "not listed is not absent";
    auto const question = read();
    EXPECT_THAT(question.ids, ElementsAre("a"));
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)})),
                ElementsAre("removed a absent"));
}

TEST_F(ServiceFeedTest, AbsenceInAnotherGenerationMakesSuspect) {
    load({alive("a"), alive("b", 80, std::nullopt)});
    feed.lost(now);
    load({}, 2);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent), only("b", Presence::absent)}, 2)),
                ElementsAre("suspect a", "suspect b"));
    EXPECT_TRUE(feed.instances().at("a").state.suspect);

    now += 10s;
    feed.message("b", News::changed, now);
    EXPECT_THAT(told(answer(read(), {alive("b")}, 2)), ElementsAre("updated b"));
    EXPECT_FALSE(feed.instances().at("b").state.suspect);

    // Later absences do not prolong the grace.
    feed.confirmed(now);
    EXPECT_THAT(told(answer(read(), {alive("b")}, 2)), IsEmpty());
    now += 80s;
    std::vector<std::string> changes;
    for (int i = 0; i < 10 && changes.empty(); ++i) {
        auto const next = wait();
        changes =
            told(answer(next,
                        next.everything ? std::vector{alive("b")}
                                        : std::vector{only("a", Presence::absent), alive("b")},
                        2));
    }
    EXPECT_THAT(changes, ElementsAre("removed a lost"));
    EXPECT_EQ(now, Time{1'000'000s} + lease);
}

TEST_F(ServiceFeedTest, AnExplicitDeregistrationEndsASuspicion) {
    load({alive("a")});
    load({}, 2);
    answer(read(), {only("a", Presence::absent)}, 2);
    feed.message("a", News::deregistered, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)}, 2)),
                ElementsAre("removed a deregistered"));
}

TEST_F(ServiceFeedTest, ADisturbedReadProvesNothing) {
    load({alive("a")});
    feed.confirmed(now);
    answer(read(), {});
    auto const question = read();
    feed.confirmed(now);
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)})), IsEmpty());
    EXPECT_TRUE(read().everything) << "the confirmation asks for it";
}

TEST_F(ServiceFeedTest, AReadWithoutItsPingProvesNothing) {
    load({alive("a", 80, 1s)});
    auto const question = wait();
    FeedAnswer given;
    given.number = question.number;
    given.complete = true;
    given.generation = 1;
    given.sightings = {only("a", Presence::absent)};
    EXPECT_THAT(told(feed.answer(given, now)), IsEmpty());
    EXPECT_FALSE(feed.next_read(now)) << "not again at once";
    EXPECT_THAT(wait().ids, ElementsAre("a"));
}

TEST_F(ServiceFeedTest, WithoutAGenerationNothingIsProven) {
    feed.confirmed(now);
    answer(read(), {alive("a", 80, 1s)}, std::nullopt);
    EXPECT_TRUE(feed.live()) << "not a reason to read for ever";
    auto const question = wait();
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)}, std::nullopt)),
                ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, AnEventConfersTheGenerationOfTheLastCompleteRead) {
    load({});
    feed.message("a", News::changed, now);
    answer(read(), {alive("a")});
    EXPECT_EQ(feed.instances().at("a").generation, GenerationNumber{1});
    feed.doubt(now);
    feed.message("b", News::changed, now);
    auto const some = read();
    ASSERT_FALSE(some.everything) << "doubt waits a little";
    answer(some, {alive("b")});
    EXPECT_EQ(feed.instances().at("b").generation, std::nullopt) << "while a read is pending";
}

TEST_F(ServiceFeedTest, AnotherGenerationInAQuestionCallsForACompleteRead) {
    load({alive("a", 80, 1s), alive("b")});
    auto const question = wait();
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)}, 2)), ElementsAre("suspect a"));
    EXPECT_FALSE(feed.live());
    EXPECT_TRUE(wait().everything);
}

TEST_F(ServiceFeedTest, WhereNobodyMayListenTheFirstReadComesAtOnce) {
    EXPECT_FALSE(feed.next_read(now));
    feed.refused(now);
    EXPECT_LE(feed.wake_at(), now);
    answer(read(), {alive("a")});
    EXPECT_TRUE(feed.loaded());
    feed.refused(now);
    EXPECT_FALSE(feed.next_read(now)) << "each refusal is no reason to read again";
}

TEST_F(ServiceFeedTest, WithoutMessagesItReadsNowAndThenAndProvesNothing) {
    now += options.blind_period;
    EXPECT_THAT(told(answer(read(), {alive("a"), alive("b")})),
                ElementsAre("current a", "current b"));
    EXPECT_TRUE(feed.loaded());
    EXPECT_FALSE(feed.live());
    auto const again = wait();
    EXPECT_EQ(now, Time{1'000'000s} + 2 * options.blind_period);
    answer(again, {alive("b")});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, AnUnlistedHashIsSuspectUntilItsGraceEnds) {
    load({alive("a")});
    feed.confirmed(now);
    answer(read(), {});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::unlisted)})), ElementsAre("suspect a"));
    std::vector<std::string> changes;
    while (changes.empty()) {
        auto const next = wait();
        auto const seen =
            next.everything ? std::vector<Sighting>{} : std::vector{only("a", Presence::unlisted)};
        changes = told(answer(next, seen));
    }
    EXPECT_THAT(changes, ElementsAre("removed a lost"));
    EXPECT_EQ(now, Time{1'000'000s} + lease);
}

TEST_F(ServiceFeedTest, NewerNewsIsReadBeforeAnybodyIsJudged) {
    load({alive("a", 80, 1s)});
    auto const question = wait();
    // Its owner registers it again after the list was read and before its Hash is.
    feed.message("a", News::changed, now);
    EXPECT_THAT(told(answer(question, {only("a", Presence::unlisted)})), IsEmpty());
    EXPECT_THAT(told(answer(read(), {alive("a", 81)})), ElementsAre("updated a"));
    EXPECT_FALSE(feed.next_read(now));
}

TEST_F(ServiceFeedTest, WhoWasMissedIsReadWithItsDescription) {
    load({alive("a"), alive("b")});
    feed.message("a", News::changed, now);
    answer(read(), {only("a", Presence::unlisted)});  // Described anew, and taken off the list.
    auto const question = read();
    EXPECT_TRUE(question.proof && question.descriptions);
    EXPECT_THAT(told(answer(question, {alive("a", 81)})), ElementsAre("updated a"));
}

TEST_F(ServiceFeedTest, AListOfLeasesDoesNotClearASuspicion) {
    load({alive("a", 80, std::nullopt)});
    feed.message("a", News::changed, now);
    answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), ElementsAre("suspect a"));
    auto const reconcile = wait();
    ASSERT_TRUE(reconcile.everything);
    auto seen = alive("a", 80, std::nullopt);
    seen.instance = nullptr;
    EXPECT_THAT(told(answer(reconcile, {seen})), IsEmpty());
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), IsEmpty());
    auto const next = feed.next_read(now);
    EXPECT_FALSE(next) << "its grace goes on";
}

TEST_F(ServiceFeedTest, AListWithTimesKnowsThatALeaseGoesOn) {
    load({alive("a", 80, 1s)});
    auto const question = wait();
    auto hollow = only("a", Presence::hollow);  // Renewed since we looked, and its Hash deleted.
    hollow.state.lease_until = now + lease - 1s;
    EXPECT_THAT(told(answer(question, {hollow})), ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, ExpiredBeforeItsTimeIsSuspectAlsoWhenSomebodyCleanedUp) {
    load({alive("a")});
    feed.message("a", News::expired, now);
    answer(read(), {only("a", Presence::absent)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), ElementsAre("suspect a"));
    now += lease;
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), ElementsAre("removed a lost"));
}

TEST_F(ServiceFeedTest, AHollowEntryBeforeTheDeadlineStaysSuspectForItsWholeGrace) {
    load({alive("a", 80, 1s)});
    feed.message("a", News::changed, now);
    answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), ElementsAre("suspect a"));
    auto const grace_until = feed.instances().at("a").grace_until;
    now += 2s;
    feed.confirmed(now);  // Later resyncs do not shorten it.
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now));
    now = *grace_until - 1ms;
    feed.confirmed(now);
    answer(read(), {only("a", Presence::hollow)});
    now = *grace_until;
    auto const outcome = answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(outcome), ElementsAre("removed a lost"));
    EXPECT_THAT(outcome.hollow, IsEmpty()) << "whoever cleans up knows no more than we do";
}

TEST_F(ServiceFeedTest, ALeaseThatEndsWhileTheAnswerIsOnItsWayHasNotEnded) {
    load({alive("a", 80, 5s)});
    feed.message("a", News::changed, now);
    answer(read(), {only("a", Presence::hollow)});
    auto const question = read();
    now += 5s;  // By now its owner may have registered it again.
    EXPECT_THAT(told(answer(question, {only("a", Presence::hollow)})), ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, ADeregistrationFromBeforeALossIsNotBelieved) {
    load({alive("a")});
    feed.message("a", News::deregistered, now);
    feed.lost(now);  // That it registered again may have been lost.
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), IsEmpty());
    load({}, 2);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)}, 2)), ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, ADeregistrationThatIsReadDuringALossIsNotBelieved) {
    load({alive("a")});
    feed.message("a", News::removed, now);
    auto const some = read();
    feed.doubt(now);
    EXPECT_THAT(told(answer(some, {only("a", Presence::absent)})), IsEmpty());
    now += options.doubt_pause;
    answer(read(), {});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})),
                ElementsAre("removed a absent"));
}

TEST_F(ServiceFeedTest, AQuestionAskedWithoutMessagesJudgesNobodyOnceTheyCome) {
    now += options.blind_period;
    answer(read(), {alive("a")});
    answer(wait(), {});
    auto const question = read();
    feed.confirmed(now);
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)})), IsEmpty());
}

TEST_F(ServiceFeedTest, ADisturbedReadConfersNothing) {
    feed.confirmed(now);
    auto const whole = read();
    feed.confirmed(now);
    answer(whole, {alive("a")});
    EXPECT_EQ(feed.instances().at("a").generation, std::nullopt);
}

TEST_F(ServiceFeedTest, AGenerationInWhichItWasSeenProvesItsAbsence) {
    load({alive("a")});
    load({alive("a")}, 2);
    load({}, 2);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)}, 2)),
                ElementsAre("removed a absent"));
}

TEST_F(ServiceFeedTest, WhoCameBackIsJudgedAsIfNothingHadBeen) {
    load({alive("a", 80, 5s)});
    feed.message("a", News::expired, now);
    answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), ElementsAre("suspect a"));
    feed.message("a", News::changed, now);
    EXPECT_THAT(told(answer(read(), {alive("a", 80, 5s)})), ElementsAre("updated a"));
    auto const question = wait();
    EXPECT_THAT(question.ids, ElementsAre("a"));
    EXPECT_FALSE(question.descriptions) << "its lease is all that is asked for";
    EXPECT_THAT(told(answer(question, {only("a", Presence::absent)})),
                ElementsAre("removed a expired"));
}

TEST_F(ServiceFeedTest, ADeregistrationOfWhatIsStillListedIsNotBelieved) {
    load({alive("a")});
    feed.message("a", News::deregistered, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), IsEmpty());
    EXPECT_TRUE(read().proof);
}

TEST_F(ServiceFeedTest, AGenerationAloneProvesNothingWithoutMessages) {
    load({alive("a")});
    feed.lost(now);
    answer(wait(), {});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), ElementsAre("suspect a"));
}

TEST_F(ServiceFeedTest, RedisKnowsBetterWhenALeaseHasEnded) {
    load({alive("a")});
    feed.message("a", News::changed, now);
    answer(read(), {only("a", Presence::expired)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::expired)})),
                ElementsAre("removed a expired"));
}

TEST_F(ServiceFeedTest, AGraceLastsAsLongAsTheLeaseThatIsKnown) {
    load({alive("a", 80, 2 * lease)});
    load({}, 2);
    answer(read(), {only("a", Presence::absent)}, 2);
    EXPECT_EQ(feed.instances().at("a").grace_until, now + 2 * lease);
}

TEST_F(ServiceFeedTest, WhatEndedWhileNobodyLookedHasExpired) {
    load({alive("a", 80, 1s)});
    feed.lost(now);
    now += options.blind_period;
    answer(read(), {only("a", Presence::hollow)});
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), ElementsAre("suspect a"));
    load({only("a", Presence::hollow)});
    now = *feed.instances().at("a").grace_until;
    auto question = read();
    if (question.everything) {
        answer(question, {only("a", Presence::hollow)});
        question = read();
    }
    auto const outcome = answer(question, {only("a", Presence::hollow)});
    EXPECT_THAT(told(outcome), ElementsAre("removed a expired"));
    EXPECT_THAT(outcome.hollow, ElementsAre("a"));
}

}  // namespace
}  // namespace rollcall::test

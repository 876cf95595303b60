#include "registry/live/service_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Time = ServiceFeed::Time;
using Lease = std::optional<std::chrono::milliseconds>;

constexpr auto lease = 90s;

std::vector<std::string> told(FeedOutcome const& outcome) {
    static constexpr char const* kinds[] = {"current", "added",   "updated",
                                            "removed", "suspect", "resync"};
    static constexpr char const* reasons[] = {"", " deregistered", " expired", " absent", " lost"};
    std::vector<std::string> result;
    for (auto const& change : outcome.changes) {
        result.push_back(std::string{kinds[static_cast<int>(change.kind)]} + ' ' + change.id +
                         reasons[static_cast<int>(change.reason)]);
    }
    return result;
}

class ServiceFeedTest : public testing::Test {
protected:
    Sighting alive(std::string id, int port = 80, Lease left = lease) const {
        Sighting sighting;
        auto instance = std::make_shared<ServiceInstance>();
        instance->instance_id = id;
        instance->port = port;
        sighting.id = std::move(id);
        sighting.presence = Presence::alive;
        sighting.instance = std::move(instance);
        if (left) sighting.state.lease_until = now + *left;
        return sighting;
    }

    static Sighting only(std::string id, Presence presence) {
        Sighting sighting;
        sighting.id = std::move(id);
        sighting.presence = presence;
        return sighting;
    }

    FeedRead read() {
        auto const next = feed.next_read(now);
        if (!next) throw std::logic_error{"nothing is to be read"};
        return *next;
    }

    FeedOutcome answer(FeedRead const& read, std::vector<Sighting> sightings,
                       std::optional<GenerationNumber> generation = 1) {
        FeedAnswer given;
        given.number = read.number;
        given.complete = true;
        given.path_clean = true;
        given.generation = generation;
        given.sightings = std::move(sightings);
        return feed.answer(std::move(given), now);
    }

    FeedOutcome fail(FeedRead const& read) {
        FeedAnswer given;
        given.number = read.number;
        return feed.answer(std::move(given), now);
    }

    FeedOutcome load(std::vector<Sighting> sightings, GenerationNumber generation = 1) {
        feed.confirmed(now);
        return answer(read(), std::move(sightings), generation);
    }

    /// Goes to the next moment at which something is to be read.
    FeedRead wait() {
        now = std::max(now, feed.wake_at());
        return read();
    }

    FeedOptions const options;
    Time now{1'000'000s};
    ServiceFeed feed{options, now};
};

TEST_F(ServiceFeedTest, ReadsEverythingOnceTheSubscriptionIsConfirmed) {
    EXPECT_FALSE(feed.next_read(now));
    EXPECT_FALSE(feed.loaded());
    feed.confirmed(now);
    auto const whole = read();
    EXPECT_TRUE(whole.everything && whole.descriptions && whole.proof);
    EXPECT_FALSE(feed.next_read(now)) << "one at a time";
    EXPECT_FALSE(feed.live());
    EXPECT_THAT(told(answer(whole, {alive("a"), alive("b")})),
                ElementsAre("current a", "current b"));
    EXPECT_TRUE(feed.loaded() && feed.live());
    EXPECT_FALSE(feed.next_read(now));
}

TEST_F(ServiceFeedTest, ReadsAgainWhatAMessageNames) {
    load({alive("a")});
    feed.message("b", News::changed, now);
    feed.message("a", News::changed, now);
    auto const some = read();
    EXPECT_THAT(some.ids, ElementsAre("a", "b")) << "together";
    EXPECT_TRUE(some.descriptions);
    EXPECT_FALSE(some.everything || some.proof);
    EXPECT_THAT(told(answer(some, {alive("a", 81), alive("b")})),
                ElementsAre("updated a", "added b"));
    feed.message("a", News::changed, now);
    auto const same = answer(read(), {alive("a", 81)});
    EXPECT_THAT(told(same), IsEmpty());
    EXPECT_THAT(same.renewed, ElementsAre("a"));
}

TEST_F(ServiceFeedTest, AMessageDuringAReadIsReadAfterIt) {
    feed.confirmed(now);
    auto const whole = read();
    feed.message("a", News::deregistered, now);
    answer(whole, {alive("a")});  // Read before it went.
    EXPECT_EQ(feed.instances().size(), 1u);
    auto const some = read();
    EXPECT_THAT(some.ids, ElementsAre("a"));
    EXPECT_THAT(told(answer(some, {only("a", Presence::absent)})),
                ElementsAre("removed a deregistered"));
}

TEST_F(ServiceFeedTest, ADeregistrationOfAnInstanceThatIsThereIsNotBelieved) {
    load({alive("a")});
    feed.message("a", News::deregistered, now);  // Perhaps of another database.
    EXPECT_THAT(told(answer(read(), {alive("a")})), IsEmpty());
}

TEST_F(ServiceFeedTest, WhatRemovedMeansDependsOnTheLease) {
    load({alive("a"), alive("b")});
    feed.message("a", News::removed, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})),
                ElementsAre("removed a deregistered"));
    now += lease;
    feed.message("b", News::removed, now);
    EXPECT_THAT(told(answer(read(), {only("b", Presence::absent)})),
                ElementsAre("removed b expired"));
}

TEST_F(ServiceFeedTest, ARenewalIsReadOnlyIfItsInstanceIsUnknownOrSuspect) {
    load({alive("a")});
    feed.message("a", News::renewed, now);
    EXPECT_FALSE(feed.next_read(now));
    feed.message("b", News::renewed, now);
    EXPECT_THAT(read().ids, ElementsAre("b"));
}

TEST_F(ServiceFeedTest, AsksRedisWhenALeaseSeemsToEnd) {
    load({alive("a", 80, 5s), alive("b", 80, 50s)});
    auto question = wait();
    EXPECT_THAT(question.ids, ElementsAre("a"));
    EXPECT_TRUE(question.proof);
    EXPECT_FALSE(question.descriptions);
    auto still = alive("a", 80, 3s);
    still.instance = nullptr;
    EXPECT_THAT(told(answer(question, {still})), IsEmpty());
    EXPECT_EQ(feed.wake_at(), now + 3s);
    question = wait();
    EXPECT_THAT(told(answer(question, {only("a", Presence::expired)})),
                ElementsAre("removed a expired"));
}

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

TEST_F(ServiceFeedTest, DoubtsAreReadTogether) {
    load({});
    now += 1s;
    feed.doubt(now);
    answer(read(), {});
    feed.doubt(now);
    EXPECT_FALSE(feed.next_read(now));
    EXPECT_EQ(feed.wake_at(), now + options.doubt_pause);
    EXPECT_TRUE(wait().everything);
}

TEST_F(ServiceFeedTest, TooMuchNewsIsReadAsAWhole) {
    load({});
    now += 1s;
    for (std::size_t i = 0; i <= options.most_ids; ++i) {
        feed.message(std::to_string(i), News::changed, now);
    }
    EXPECT_TRUE(read().everything);
}

TEST_F(ServiceFeedTest, AFailedReadIsRepeatedWithGrowingPauses) {
    feed.confirmed(now);
    std::vector<std::chrono::milliseconds> pauses;
    for (int i = 0; i < 6; ++i) {
        EXPECT_THAT(told(fail(read())), IsEmpty());
        pauses.push_back(
            std::chrono::duration_cast<std::chrono::milliseconds>(feed.wake_at() - now));
        now = feed.wake_at();
    }
    EXPECT_THAT(pauses, ElementsAre(100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms));
    answer(read(), {alive("a")});
    feed.message("a", News::deregistered, now);
    fail(read());
    EXPECT_THAT(wait().ids, ElementsAre("a"));
}

TEST_F(ServiceFeedTest, NewerNewsWinsOverThatOfAFailedRead) {
    load({alive("a")});
    feed.message("a", News::deregistered, now);
    auto const some = read();
    feed.message("a", News::changed, now);
    fail(some);
    EXPECT_THAT(told(answer(wait(), {only("a", Presence::absent)})), IsEmpty())
        << "registered since, as far as the messages go";
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

TEST_F(ServiceFeedTest, AShortLossOfTheConnectionJudgesNobody) {
    load({alive("a", 80, 1s)});
    feed.lost(now);
    now += 1'500ms;
    EXPECT_FALSE(feed.next_read(now)) << "the messages may be back soon";
    EXPECT_EQ(feed.instances().size(), 1u);
}

TEST_F(ServiceFeedTest, ReconcilesIdsAndLeasesAndRereadsDescriptionsInTurn) {
    std::vector<Sighting> many;
    for (int i = 10; i < 30; ++i) many.push_back(alive("i" + std::to_string(i), 80, std::nullopt));
    load(many);
    std::set<std::string> reread;
    for (int round = 0; round < 10; ++round) {
        auto const before = now;
        auto const reconcile = wait();
        EXPECT_TRUE(reconcile.everything);
        EXPECT_FALSE(reconcile.descriptions || reconcile.proof);
        EXPECT_GE(now - before, 48s);
        EXPECT_LE(now - before, 60s);
        auto leases = many;
        for (auto& sighting : leases) sighting.instance = nullptr;
        answer(reconcile, leases);
        auto const turn = read();
        EXPECT_EQ(turn.ids.size(), 2u);
        reread.insert(turn.ids.begin(), turn.ids.end());
        answer(turn, {many[0]});
    }
    EXPECT_EQ(reread.size(), many.size());
}

TEST_F(ServiceFeedTest, ReconciliationFindsWhatNoMessageTold) {
    load({alive("a", 80, std::nullopt), alive("b", 80, std::nullopt)});
    auto const reconcile = wait();
    auto seen = alive("c");
    seen.instance = nullptr;
    EXPECT_THAT(told(answer(reconcile, {alive("b"), seen})), IsEmpty());
    auto const some = read();
    EXPECT_THAT(some.ids, testing::Contains("c"));
    EXPECT_THAT(told(answer(some, {alive("b"), alive("c")})), ElementsAre("added c"));
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})),
                ElementsAre("removed a absent"));
}

TEST_F(ServiceFeedTest, AnUnreadableDescriptionTakesNothingAway) {
    load({alive("a")});
    feed.message("a", News::changed, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::unreadable)})), IsEmpty());
    EXPECT_EQ(feed.instances().size(), 1u);
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

TEST_F(ServiceFeedTest, AnswersOfOtherReadsAreIgnored) {
    feed.confirmed(now);
    auto whole = read();
    ++whole.number;
    EXPECT_THAT(told(answer(whole, {alive("a")})), IsEmpty());
    EXPECT_FALSE(feed.loaded());
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
    now += 2s;
    feed.confirmed(now);  // Later resyncs do not shorten it.
    EXPECT_THAT(told(answer(read(), {only("a", Presence::hollow)})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now));
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

}  // namespace
}  // namespace rollcall

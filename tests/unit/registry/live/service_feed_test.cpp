#include "registry/live/service_feed.hpp"

#include <gmock/gmock.h>
#include <set>

#include "unit/registry/live/service_feed_fixture.hpp"

namespace rollcall::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST_F(ServiceFeedTest, AnswersOfOtherReadsAreIgnored) {
    feed.confirmed(now);
    auto whole = read();
    ++whole.number;
    EXPECT_THAT(told(answer(whole, {alive("a")})), IsEmpty());
    EXPECT_FALSE(feed.loaded());
}

TEST_F(ServiceFeedTest, AConfirmationIsReadAtOnceWhateverWasInDoubt) {
    load({});
    feed.doubt(now);
    ASSERT_FALSE(feed.next_read(now));
    feed.confirmed(now);
    EXPECT_TRUE(read().everything);
}

TEST_F(ServiceFeedTest, ACompleteReadWithoutItsPingIsRepeatedSoonButNotAtOnce) {
    feed.confirmed(now);
    FeedAnswer given;
    given.number = read().number;
    given.complete = true;
    given.generation = 1;
    feed.answer(given, now);
    EXPECT_TRUE(feed.loaded());
    EXPECT_FALSE(feed.live());
    EXPECT_EQ(feed.wake_at(), now + options.doubt_pause);
}

TEST_F(ServiceFeedTest, ACompleteReadTakesTheNewsAlong) {
    load({alive("a")});
    feed.confirmed(now);
    feed.message("a", News::deregistered, now);
    EXPECT_THAT(told(answer(read(), {})), ElementsAre("removed a deregistered"));
    EXPECT_FALSE(feed.next_read(now));
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

TEST_F(ServiceFeedTest, AShortLossOfTheConnectionJudgesNobody) {
    load({alive("a", 80, 1s)});
    feed.lost(now);
    now += 1'500ms;
    EXPECT_FALSE(feed.next_read(now)) << "the messages may be back soon";
    EXPECT_EQ(feed.instances().size(), 1u);
}

TEST_F(ServiceFeedTest, ARenewalOfASuspectIsRead) {
    load({alive("a")});
    load({}, 2);
    answer(read(), {only("a", Presence::absent)}, 2);
    feed.message("a", News::renewed, now);
    EXPECT_THAT(told(answer(read(), {alive("a")}, 2)), ElementsAre("updated a"));
}

TEST_F(ServiceFeedTest, WhoIsFoundIsNotAskedForAnyMore) {
    load({alive("a"), alive("b")});
    load({});
    feed.message("a", News::changed, now);
    feed.message("b", News::deregistered, now);
    EXPECT_THAT(told(answer(read(), {alive("a"), only("b", Presence::absent)})),
                ElementsAre("removed b deregistered"));
    EXPECT_FALSE(feed.next_read(now));
}

TEST_F(ServiceFeedTest, LeasesLeaveTheTimeOfRegistrationAsItWas) {
    auto registered = alive("a", 80, 5s);
    registered.state.registered_at = std::chrono::system_clock::time_point{1s};
    load({registered});
    auto lease_only = alive("a");
    lease_only.instance = nullptr;
    answer(wait(), {lease_only});
    EXPECT_EQ(feed.instances().at("a").state.registered_at, registered.state.registered_at);
    EXPECT_EQ(feed.instances().at("a").state.lease_until, lease_only.state.lease_until);
}

TEST_F(ServiceFeedTest, TellsWhenAReadLastConfirmedIt) {
    EXPECT_FALSE(feed.confirmed_at());
    load({alive("a")});
    auto const loaded_at = now;
    now += 1s;
    feed.message("a", News::changed, now);
    fail(read());
    EXPECT_EQ(feed.confirmed_at(), loaded_at);
    answer(wait(), {alive("a")});
    EXPECT_EQ(feed.confirmed_at(), now);
}

TEST_F(ServiceFeedTest, AnAnswerMakesThePausesShortAgain) {
    load({alive("a")});
    feed.message("a", News::changed, now);
    for (int i = 0; i < 4; ++i) fail(wait());
    answer(wait(), {alive("a")});
    feed.message("a", News::changed, now);
    fail(read());
    EXPECT_EQ(feed.wake_at(), now + options.first_retry);
}

}  // namespace
}  // namespace rollcall::test

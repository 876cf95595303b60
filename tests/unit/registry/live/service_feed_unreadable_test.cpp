#include <gmock/gmock.h>

#include "unit/registry/live/service_feed_fixture.hpp"

namespace rollcall::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Of an instance whose key holds something that describes none.
class UnreadableInstanceTest : public ServiceFeedTest {
protected:
    Sighting unreadable(std::string id, Lease left = std::nullopt) const {
        auto sighting = only(std::move(id), Presence::unreadable);
        if (left) sighting.state.lease_until = now + *left;
        return sighting;
    }
    /// As a list of leases has it.
    Sighting listed(std::string id, Lease left = std::nullopt) const {
        auto sighting = alive(std::move(id), 80, left);
        sighting.instance.reset();
        return sighting;
    }
    /// Answers the questions that follow on what is there without a lease.
    std::vector<std::string> ask_on() {
        std::vector<std::string> all;
        for (auto next = feed.next_read(now); next; next = feed.next_read(now)) {
            for (auto const& text : told(answer(*next, {unreadable("a")}))) all.push_back(text);
        }
        return all;
    }
};

TEST_F(UnreadableInstanceTest, WithoutALeaseStaysNoLongerThanOneAndAGrace) {
    load({alive("a", 80, 10s)});
    auto const question = wait();
    EXPECT_FALSE(question.descriptions);
    EXPECT_THAT(told(answer(question, {listed("a")})), IsEmpty()) << "where is its lease?";
    auto const look = read();
    EXPECT_TRUE(look.descriptions);
    EXPECT_THAT(told(answer(look, {unreadable("a")})), IsEmpty());
    auto const proof = read();
    EXPECT_TRUE(proof.proof);
    EXPECT_TRUE(proof.descriptions) << "a list of leases would call it alive";
    EXPECT_THAT(told(answer(proof, {unreadable("a")})), ElementsAre("suspect a"))
        << "its owner may have renewed it before that, unheard of";
    now += lease - 1ms;
    EXPECT_THAT(ask_on(), IsEmpty());
    now += 1ms;
    EXPECT_THAT(ask_on(), ElementsAre("removed a lost"));
}

TEST_F(UnreadableInstanceTest, WhatIsReadBeforeItsLeaseEndsTakesNothingAway) {
    load({alive("a")});
    feed.message("a", News::changed, now);
    EXPECT_THAT(told(answer(read(), {unreadable("a")})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now));
    EXPECT_EQ(feed.instances().at("a").state.lease_until, now + lease);
}

TEST_F(UnreadableInstanceTest, StaysWhileWhatIsThereIsRenewed) {
    load({alive("a")});
    auto const begun = now;
    while (now < begun + 10 * lease) {
        now = std::max(now, feed.wake_at());
        auto const next = feed.next_read(now);
        if (!next) continue;  // What had seemed to end was renewed.
        auto const seen = next->descriptions ? unreadable("a", lease) : listed("a", lease);
        EXPECT_THAT(told(answer(*next, {seen})), IsEmpty());
    }
    EXPECT_TRUE(feed.instances().contains("a"));
}

TEST_F(UnreadableInstanceTest, IsItselfAgainWhenItsOwnerIsBack) {
    load({alive("a", 80, 1s)});
    now += 1s;
    EXPECT_THAT(ask_on(), ElementsAre("suspect a"));
    feed.message("a", News::changed, now);
    EXPECT_THAT(told(answer(read(), {alive("a")})), ElementsAre("updated a"));
    EXPECT_FALSE(feed.instances().at("a").state.suspect);
}

TEST_F(UnreadableInstanceTest, WhenThatIsCleanedUpItsOwnerMayComeBack) {
    load({alive("a", 80, 1s)});
    now += 1s;
    EXPECT_THAT(ask_on(), ElementsAre("suspect a"));
    feed.message("a", News::expired, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now)) << "it is suspect, and that is all";
    EXPECT_TRUE(feed.instances().at("a").state.suspect);
}

TEST_F(UnreadableInstanceTest, ADeregistrationEndsIt) {
    load({alive("a", 80, 1s)});
    now += 1s;
    EXPECT_THAT(ask_on(), ElementsAre("suspect a"));
    feed.message("a", News::deregistered, now);
    EXPECT_THAT(told(answer(read(), {only("a", Presence::absent)})),
                ElementsAre("removed a deregistered"));
}

TEST_F(UnreadableInstanceTest, OneThatNeverHadALeaseIsSuspectAtOnce) {
    load({alive("a", 80, std::nullopt)});
    feed.message("a", News::changed, now);
    EXPECT_THAT(ask_on(), ElementsAre("suspect a"));
    now += lease;
    EXPECT_THAT(ask_on(), ElementsAre("removed a lost"));
}

TEST_F(UnreadableInstanceTest, WhatSomebodyMadePersistentIsReadAndStays) {
    load({alive("a")});
    answer(wait(), {listed("a")});
    EXPECT_THAT(told(answer(read(), {alive("a", 80, std::nullopt)})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now));
    EXPECT_FALSE(feed.instances().at("a").state.lease_until);
}

TEST_F(UnreadableInstanceTest, NobodyKnewOne) {
    EXPECT_THAT(told(load({unreadable("a")})), IsEmpty());
    EXPECT_FALSE(feed.next_read(now));
    EXPECT_TRUE(feed.instances().empty());
}

}  // namespace
}  // namespace rollcall::test

#include "registry/heartbeat_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include "support/log_book.hpp"

namespace rollcall {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

InstanceId validated(InstanceId const& id) {
    if (id.id.empty()) throw std::invalid_argument{"instance id \"\": must not be empty"};
    return id;
}

class HeartbeatPlanTest : public testing::Test {
protected:
    static std::vector<std::vector<std::string>> texts(HeartbeatPlan const& plan) {
        std::vector<std::vector<std::string>> result;
        for (auto const& group : plan.groups()) {
            auto& texts = result.emplace_back();
            for (auto const& names : group.ids) texts.push_back(names.service + names.id);
        }
        return result;
    }
    static void tell_all(HeartbeatPlan& plan, Liveness liveness) {
        for (auto const& group : plan.groups()) {
            for (std::size_t i = 0; i < group.ids.size(); ++i) plan.tell(group, i, liveness);
        }
    }

    test::LogBook book;
    Log log{book.callback()};
    Deadline const later = after(std::chrono::hours{1});
    std::vector<InstanceId> const ids{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"a", "4"}, {"b", "5"}};
};

TEST_F(HeartbeatPlanTest, FillsCallsInOrder) {
    HeartbeatPlan plan{ids, validated, {2, false, 100}, log};
    ASSERT_TRUE(plan.next_round(later));
    EXPECT_THAT(texts(plan),
                ElementsAre(ElementsAre("a1", "b2"), ElementsAre("a3", "a4"), ElementsAre("b5")));
    EXPECT_FALSE(plan.next_round(later));
}

TEST_F(HeartbeatPlanTest, KeepsServicesApartWhereCallsAreOfOne) {
    HeartbeatPlan plan{ids, validated, {2, true, 100}, log};
    ASSERT_TRUE(plan.next_round(later));
    EXPECT_THAT(texts(plan),
                ElementsAre(ElementsAre("a1", "a3"), ElementsAre("b2", "b5"), ElementsAre("a4")));
}

TEST_F(HeartbeatPlanTest, GivesEachIdItsResultOverAllRounds) {
    HeartbeatPlan plan{ids, validated, {2, true, 3}, log};
    ASSERT_TRUE(plan.next_round(later));
    EXPECT_THAT(texts(plan), ElementsAre(ElementsAre("a1", "a3"), ElementsAre("b2")));
    plan.tell(plan.groups()[0], 1, Liveness::gone);
    plan.tell(plan.groups()[1], 0, Liveness::alive);
    ASSERT_TRUE(plan.next_round(later));
    EXPECT_THAT(texts(plan), ElementsAre(ElementsAre("a4"), ElementsAre("b5")));
    plan.tell(plan.groups()[1], 0, Liveness::persistent);
    EXPECT_THAT(std::move(plan).finish().value(),
                ElementsAre(Liveness::failed, Liveness::alive, Liveness::gone, Liveness::failed,
                            Liveness::persistent));
}

TEST_F(HeartbeatPlanTest, ABadNameFailsAlone) {
    std::vector<InstanceId> const some{{"a", ""}, {"a", "1"}};
    HeartbeatPlan plan{some, validated, {2, true, 100}, log};
    ASSERT_TRUE(plan.next_round(later));
    tell_all(plan, Liveness::alive);
    EXPECT_THAT(std::move(plan).finish().value(), ElementsAre(Liveness::failed, Liveness::alive));
    EXPECT_TRUE(book.has("must not be empty"));
}

TEST_F(HeartbeatPlanTest, NothingButBadNamesIsNoFailureOfRedis) {
    std::vector<InstanceId> const bad{{"a", ""}};
    HeartbeatPlan plan{bad, validated, {}, log};
    ASSERT_TRUE(plan.next_round(later));
    EXPECT_THAT(plan.groups(), IsEmpty());
    EXPECT_THAT(std::move(plan).finish().value(), ElementsAre(Liveness::failed));
}

TEST_F(HeartbeatPlanTest, IsAnErrorOnlyWhenNothingIsKnown) {
    HeartbeatPlan silent{ids, validated, {}, log};
    ASSERT_TRUE(silent.next_round(later));
    silent.fail(Failure{errc::unavailable, "LOADING"});
    EXPECT_EQ(std::move(silent).finish().error().code(), errc::unavailable);

    HeartbeatPlan partial{ids, validated, {2, false, 100}, log};
    ASSERT_TRUE(partial.next_round(later));
    partial.fail(Failure{errc::unavailable, "LOADING"});
    partial.tell(partial.groups()[1], 0, Liveness::alive);
    EXPECT_THAT(std::move(partial).finish().value(), SizeIs(5));
    EXPECT_TRUE(book.has("LOADING"));
}

TEST_F(HeartbeatPlanTest, WhoIsRefusedAloneIsToldFromWhomNobodyKnows) {
    HeartbeatPlan partial{ids, validated, {2, false, 100}, log};
    ASSERT_TRUE(partial.next_round(later));
    partial.fail(Failure{errc::access_denied, "NOPERM"});
    partial.tell_refused(partial.groups()[0], 0);
    partial.tell(partial.groups()[1], 0, Liveness::alive);
    EXPECT_THAT(std::move(partial).finish().value(),
                ElementsAre(Liveness::refused, Liveness::failed, Liveness::alive, Liveness::failed,
                            Liveness::failed));

    HeartbeatPlan none{ids, validated, {}, log};
    ASSERT_TRUE(none.next_round(later));
    none.fail(Failure{errc::access_denied, "NOPERM"});
    none.tell_refused(none.groups()[0], 0);
    EXPECT_EQ(std::move(none).finish().error().code(), errc::access_denied);
}

TEST_F(HeartbeatPlanTest, WithoutTimeTheFirstRoundIsMadeAndNoOther) {
    auto const now = after(std::chrono::milliseconds{0});
    HeartbeatPlan plan{ids, validated, {2, false, 2}, log};
    ASSERT_TRUE(plan.next_round(now));
    tell_all(plan, Liveness::alive);
    EXPECT_FALSE(plan.next_round(now));
    EXPECT_THAT(std::move(plan).finish().value(),
                ElementsAre(Liveness::alive, Liveness::alive, Liveness::failed, Liveness::failed,
                            Liveness::failed));
    EXPECT_TRUE(book.has("no time was left"));
}

TEST_F(HeartbeatPlanTest, NothingIsNoError) {
    HeartbeatPlan plan{{}, validated, {}, log};
    EXPECT_FALSE(plan.next_round(later));
    EXPECT_THAT(std::move(plan).finish().value(), IsEmpty());
    std::vector<InstanceId> const many(LayoutPort::max_batch + 1);
    EXPECT_THROW((HeartbeatPlan{many, validated, {}, log}), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall

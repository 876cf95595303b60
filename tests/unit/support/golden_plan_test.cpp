#include "support/golden_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::test::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr auto alone = Difference::When::alone;
constexpr auto in_run = Difference::When::in_run;

FilePlan plan_of(std::string const& records) {
    return parse_plan("file \"r.txt\"\n" + records, "plan.txt").at(0);
}

StepPlan step_of(std::string const& records) {
    return plan_of("step \"s\"\nplay p\n" + records).steps.at(0);
}

TEST(GoldenPlan, ReadsSettings) {
    auto const plan = plan_of(R"(heartbeats interval 5 detection on metadata_interval 7
lease 2
ages 10 20
step "s"
play heartbeat
known state
known deregistered
input "orders" "a"
age "a" 30
result "alive"
result_in_run "7.3" "gone"
expired "P:x"
expired "N:x"
step "s"
variant "v"
outside "because"
)");
    EXPECT_EQ(plan.heartbeat_interval, 5);
    EXPECT_TRUE(plan.metadata_change_detection);
    EXPECT_EQ(plan.metadata_update_interval, 7);
    EXPECT_EQ(plan.lease, 2);
    ASSERT_EQ(plan.find("s").size(), 2U);
    auto const& step = *plan.find("s")[0];
    EXPECT_EQ(step.play, "heartbeat");
    EXPECT_TRUE(step.known_state);
    EXPECT_TRUE(step.known_deregistered);
    EXPECT_THAT(step.inputs, ElementsAre(Pair("orders", "a")));
    EXPECT_EQ(step.ages.newest, 10);
    EXPECT_EQ(step.ages.of.at("a"), 30);
    EXPECT_EQ(step.result, "alive");
    EXPECT_EQ(step.result_in_run, "gone");
    EXPECT_THAT(step.expired, ElementsAre("redis_streaming_registry:x", "cosky-{default}:x"));
    EXPECT_EQ(plan.find("s")[1]->variant, "v");
    EXPECT_TRUE(plan.find("t").empty());
}

TEST(GoldenPlan, RefusesWhatItDoesNotKnow) {
    EXPECT_THROW(parse_plan("step \"s\"\n", "p"), FormatError);
    for (auto const* record : {"what 1", "differs \"G1\"", "differs \"G1\" what", "known what",
                               "differs \"G1\" keeps_key", "differs_often \"G1\" no_message",
                               "age \"a\" b", "auto_reregister maybe", "input \"a\"", "lease x"}) {
        EXPECT_THROW(step_of(record), FormatError) << record;
    }
}

TEST(GoldenPlan, ReportsGaps) {
    auto const recording = parse_recording("step \"a\"\nret \"\"\nstep \"b\"\nret \"\"\n", "r.txt");
    EXPECT_THAT(gaps(recording, plan_of("step \"a\"\nplay x\nstep \"b\"\noutside \"y\"\n")),
                IsEmpty());
    EXPECT_THAT(gaps(recording, plan_of("step \"a\"\nplay x\n")),
                ElementsAre("step \"b\" has 0 ordinary plans"));
    EXPECT_THAT(gaps(recording, plan_of("step \"a\"\nplay x\nstep \"b\"\nplay x\nvariant \"v\"\n")),
                ElementsAre("step \"b\" has 0 ordinary plans"));
    EXPECT_THAT(gaps(recording, plan_of("step \"a\"\nplay x\nstep \"b\"\nplay x\n"
                                        "step \"c\"\nplay x\n")),
                ElementsAre("step \"c\" was not recorded"));
    EXPECT_THAT(gaps(recording, plan_of("step \"a\"\nplay x\noutside \"y\"\nstep \"b\"\n")),
                ElementsAre(HasSubstr("\"a\" is neither"), HasSubstr("\"b\" is neither")));
}

class GoldenDifferences : public testing::Test {
protected:
    GoldenDifferences() {
        before["k"].fields = {{"a", "old"}, {"b", "same"}};
        expected.keys = before;
        expected.keys["k"].fields["a"] = "new";
        expected.keys["k"].fields["c"] = "new";
        expected.keys["s"].type = Type::set;
        expected.keys["s"].members = {"x"};
        expected.keys["z"].type = Type::zset;
        expected.keys["z"].scored = {{"x", "1"}, {"y", "2"}};
        expected.messages = {{"c", "one one"}, {"c", "two"}};
    }

    void apply(std::string const& records, Difference::When when = alone) {
        apply_differences(expected, before, step_of(records), when, "plan.txt");
    }

    LiveKeys before;
    Expectation expected;
};

TEST_F(GoldenDifferences, OfFields) {
    apply(
        "differs \"w\" keeps_field \"k\" \"a\"\ndiffers \"w\" keeps_field \"k\" \"c\"\n"
        "differs \"w\" field \"k\" \"d\" \"v\"\ndiffers \"w\" field_now \"k\" \"e\"\n");
    EXPECT_THAT(expected.keys["k"].fields, ElementsAre(Pair("a", "old"), Pair("b", "same"),
                                                       Pair("d", "v"), Pair("e", "{{now}}")));
}

TEST_F(GoldenDifferences, OfFieldsThatGoOrTellOfALease) {
    before["k"].expiry = Expiry::at(1'760'000'045'000);
    apply("differs \"w\" no_field \"k\" \"c\"\ndiffers \"w\" field_lease \"k\" \"b\"\n");
    EXPECT_THAT(expected.keys["k"].fields,
                ElementsAre(Pair("a", "new"), Pair("b", "{{until 1760000045000}}")));
}

TEST_F(GoldenDifferences, OfKeys) {
    apply(
        "differs \"w\" keeps_key \"k\"\ndiffers \"w\" no_key \"z\"\n"
        "differs \"w\" expires \"k\" \"90\"\ndiffers \"w\" keeps_key \"s\"\n");
    ASSERT_EQ(expected.keys.size(), 1U);
    EXPECT_EQ(expected.keys["k"].fields, before["k"].fields);
    EXPECT_EQ(expected.keys["k"].expiry, Expiry::set_in_step(90));
    apply("differs \"w\" expires \"k\" \"-\"\n");
    EXPECT_EQ(expected.keys["k"].expiry, Expiry{});
}

TEST_F(GoldenDifferences, OfMembers) {
    apply("differs \"w\" member_now \"z\" \"x\"\ndiffers \"w\" no_member \"s\" \"x\"\n");
    EXPECT_THAT(expected.keys["z"].scored, ElementsAre(Pair("y", "2"), Pair("x", "{{now}}")));
    EXPECT_FALSE(expected.keys.contains("s"));
}

TEST_F(GoldenDifferences, OfMessages) {
    apply(
        "differs \"w\" message_text \"one\" \"three\"\ndiffers \"w\" message_first \"d\" \"f\"\n"
        "differs \"w\" message_last \"d\" \"l\"\n");
    EXPECT_THAT(expected.messages, ElementsAre(Message{"d", "f"}, Message{"c", "three three"},
                                               Message{"c", "two"}, Message{"d", "l"}));
    apply("differs \"w\" no_message\n");
    EXPECT_THAT(expected.messages, IsEmpty());
}

TEST_F(GoldenDifferences, HoldWhereTheyAreSaidTo) {
    auto const text = std::string{"differs_in_run \"w\" no_message\n"};
    apply(text);
    EXPECT_EQ(expected.messages.size(), 2U);
    apply(text, in_run);
    EXPECT_THAT(expected.messages, IsEmpty());
}

TEST_F(GoldenDifferences, MustChangeSomething) {
    EXPECT_THROW(apply("differs \"w\" keeps_field \"k\" \"b\"\n"), FormatError);
    EXPECT_THROW(apply("differs \"w\" message_text \"four\" \"five\"\n"), FormatError);
    EXPECT_THROW(apply("differs \"w\" no_key \"q\"\n"), FormatError);
    EXPECT_NO_THROW(apply("differs \"w\" no_key \"q\"\n", in_run));
    EXPECT_THROW(apply("differs_in_run \"w\" no_key \"q\"\n", in_run), FormatError);
}

}  // namespace
}  // namespace rollcall::test::golden

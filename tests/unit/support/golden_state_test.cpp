#include "support/golden_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::test::golden {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr long long now = 1'760'000'000'000;

constexpr std::string_view text = R"(step "setup"
ret ""
key "p:services:s:heartbeats" zset -
zmem "p:services:s:heartbeats" "a" "{{ms}}"
zmem "p:services:s:heartbeats" "b" "{{ms}}"
key "p:services:s:instance:a" hash 90
fld "p:services:s:instance:a" "host" "h"
fld "p:services:s:instance:a" "lastHeartbeatTime" "{{ms}}"
fld "p:services:s:instance:a" "registrationTime" "{{ms}}"
key "p:services:s:instance:b" hash 2
fld "p:services:s:instance:b" "host" "h"
step "heartbeat of a"
ret ""
cmd "EVALSHA"
lua "ZADD" "p:services:s:heartbeats" "{{ms}}" "a"
lua "HSET" "p:services:s:instance:a" "lastHeartbeatTime" "{{ms}}"
lua "EXPIRE" "p:services:s:instance:a" "90"
key "p:services:s:heartbeats" zset -
zmem "p:services:s:heartbeats" "b" "{{ms}}"
zmem "p:services:s:heartbeats" "a" "{{ms}}"
key "p:services:s:instance:a" hash 90
fld "p:services:s:instance:a" "host" "h"
fld "p:services:s:instance:a" "lastHeartbeatTime" "{{ms}}"
fld "p:services:s:instance:a" "registrationTime" "{{ms}}"
key "p:services:s:instance:b" hash 1
fld "p:services:s:instance:b" "host" "h"
step "b is removed"
ret ""
key "p:services:s:heartbeats" zset -
zmem "p:services:s:heartbeats" "a" "{{ms}}"
gone "p:services:s:instance:b"
)";

class GoldenState : public testing::Test {
protected:
    Recording const recording = parse_recording(text, "r.txt");
};

TEST_F(GoldenState, PlacesTimesInTheRecordedOrder) {
    auto const keys = place(recording.before(1), Ages{500, 100, {}}, now);
    EXPECT_THAT(keys.at("p:services:s:heartbeats").scored,
                ElementsAre(Pair("a", "1759999999400"), Pair("b", "1759999999500")));
    auto const& a = keys.at("p:services:s:instance:a");
    EXPECT_EQ(a.fields.at("lastHeartbeatTime"), "1759999999400");
    EXPECT_EQ(a.fields.at("registrationTime"), "1759996999400");
    EXPECT_EQ(a.expiry, Expiry::at(now + 75'000));
    EXPECT_EQ(keys.at("p:services:s:instance:b").expiry, Expiry::at(now + 2'000));
}

TEST_F(GoldenState, PlacesChosenAgesAndRefusesThoseOutOfOrder) {
    auto const keys = place(recording.before(1), Ages{500, 100, {{"a", 9'000}}}, now);
    EXPECT_EQ(keys.at("p:services:s:heartbeats").scored[0].second, "1759999991000");
    EXPECT_THROW(place(recording.before(1), Ages{500, 100, {{"a", 100}}}, now),
                 std::invalid_argument);
}

TEST_F(GoldenState, AdvancesOnlyWhatTheStepTouched) {
    auto const before = place(recording.before(1), {}, now);
    auto const after = advance(before, recording, 1);
    auto const& scored = after.at("p:services:s:heartbeats").scored;
    EXPECT_EQ(scored[0], before.at("p:services:s:heartbeats").scored[1]);
    EXPECT_THAT(scored[1], Pair("a", "{{now}}"));
    auto const& a = after.at("p:services:s:instance:a");
    EXPECT_EQ(a.fields.at("lastHeartbeatTime"), "{{now}}");
    EXPECT_EQ(a.fields.at("registrationTime"),
              before.at("p:services:s:instance:a").fields.at("registrationTime"));
    EXPECT_EQ(a.expiry, Expiry::set_in_step(90));
    EXPECT_EQ(after.at("p:services:s:instance:b"), before.at("p:services:s:instance:b"));
}

TEST_F(GoldenState, AdvancesAnotherStateThanTheRecordedOne) {
    auto state = place(recording.before(2), {}, now);
    state["p:services:s:heartbeats"].scored.insert(state["p:services:s:heartbeats"].scored.begin(),
                                                   {"c", "1"});
    state["p:services:s:instance:c"].fields["host"] = "other";
    auto const after = advance(state, recording, 2);
    EXPECT_FALSE(after.contains("p:services:s:instance:b"));
    EXPECT_EQ(after.at("p:services:s:instance:c").fields.at("host"), "other");
    EXPECT_THAT(after.at("p:services:s:heartbeats").scored,
                ElementsAre(Pair("c", "1"), Pair("a", testing::_)));
}

TEST_F(GoldenState, AdvancesWhatWasWrittenWithoutChange) {
    auto const same = parse_recording(R"(step "setup"
ret ""
key "h" hash -
fld "h" "healthy" "false"
step "marked again"
ret ""
cmd "EVALSHA"
lua "HSET" "h" "healthy" "false"
)",
                                      "r.txt");
    LiveKeys state;
    state["h"].fields = {{"healthy", "true"}, {"more", "x"}};
    auto const after = advance(state, same, 1);
    EXPECT_THAT(after.at("h").fields, ElementsAre(Pair("healthy", "false"), Pair("more", "x")));
}

/// A state with seconds, a lease in its last half second, and a step that writes both.
class GoldenSeconds : public testing::Test {
protected:
    Recording const recording = parse_recording(R"(step "setup"
ret ""
key "h" hash 60
fld "h" "renewed" "{{sec+53}}"
fld "h" "since" "{{sec}}"
key "i" hash 0
fld "i" "a" "b"
step "again"
ret ""
cmd "EVALSHA"
lua "hmset" "h" "renewed" "{{sec+60}}"
lua "expire" "h" "60"
lua "expire" "i" "0"
key "h" hash 60
fld "h" "renewed" "{{sec+60}}"
fld "h" "since" "{{sec}}"
)",
                                                "r.txt");
    LiveKeys state = place(recording.before(1), {}, now);
};

TEST_F(GoldenSeconds, ArePlacedBeforeNow) {
    EXPECT_EQ(state.at("h").fields.at("renewed"), std::to_string(now / 1'000 - 7 + 53));
    EXPECT_EQ(state.at("h").fields.at("since"), std::to_string(now / 1'000 - 7));
    EXPECT_EQ(state.at("i").expiry, Expiry::at(now + 450));
}

TEST_F(GoldenSeconds, AreThoseOfTheStepOnlyWhereItWroteThem) {
    auto const after = advance(state, recording, 1);
    EXPECT_EQ(after.at("h").fields.at("renewed"), "{{sec+60}}");
    EXPECT_EQ(after.at("h").fields.at("since"), state.at("h").fields.at("since"));
}

TEST_F(GoldenSeconds, SettleAtATime) {
    auto after = advance(state, recording, 1);
    settle(after, now + 2'000);
    EXPECT_EQ(after.at("h").fields.at("renewed"), std::to_string(now / 1'000 + 62));
    EXPECT_EQ(after.at("h").expiry, Expiry::at(now + 62'000));
    EXPECT_EQ(after.at("i").expiry, Expiry::at(now + 2'450));
}

std::vector<std::string> all_recordings() {
    auto files = recordings_of("streaming");
    for (auto& file : recordings_of("cosky")) files.push_back(file);
    return files;
}

/// The recorded commands must explain the recorded states: then what `advance` makes of a state of
/// ours is what the recorded program would have made of it.
TEST(GoldenStates, AreExplainedByTheirCommands) {
    for (auto const& file : all_recordings()) {
        auto const recording = load_recording(file);
        for (std::size_t i = 0; i < recording.steps.size(); ++i) {
            SCOPED_TRACE(file + ", " + recording.steps[i].name);
            auto const advanced = advance(place(recording.before(i), {}, now), recording, i);
            auto const placed = place(recording.before(i + 1), {}, now);
            ASSERT_EQ(advanced.size(), placed.size());
            for (auto const& [key, value] : placed) {
                SCOPED_TRACE(key);
                auto const& other = advanced.at(key);
                EXPECT_EQ(other.type, value.type);
                EXPECT_EQ(other.members, value.members);
                ASSERT_EQ(other.scored.size(), value.scored.size());
                for (std::size_t n = 0; n < value.scored.size(); ++n) {
                    EXPECT_EQ(other.scored[n].first, value.scored[n].first);
                }
                auto const recorded = recording.before(i + 1);
                for (auto const& [field, content] : value.fields) {
                    auto const& mark = recorded.at(key).fields.at(field);
                    bool const is_time = mark == "{{ms}}" || mark.starts_with("{{sec");
                    if (is_time) {
                        EXPECT_TRUE(other.fields.contains(field)) << field;
                    } else {
                        EXPECT_EQ(other.fields.at(field), content) << field;
                    }
                }
                EXPECT_EQ(other.fields.size(), value.fields.size());
            }
        }
    }
}

}  // namespace
}  // namespace rollcall::test::golden

#include "support/golden.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::test::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Recording parsed(std::string_view text) { return parse_recording(text, "r.txt"); }

TEST(GoldenRecording, ReadsEveryKindOfRecord) {
    auto const recording = parsed(R"r(# a comment

step "one"
ret "[]"
cmd "EVALSHA" "abc" "1"
lua "HSET" "h" "a" "1"
lua "EXPIRE" "h" "90"
cmd "PUBLISH" "c" "p"
msg "c" "p"
key "h" hash 90
fld "h" "a" "1"
key "s" set -
mem "s" "x"
mem "s" "y"
key "z" zset 2
zmem "z" "b" "1"
zmem "z" "a" "2"
step "(two)"
ret ""
gone "h"
)r");
    ASSERT_EQ(recording.steps.size(), 2U);
    auto const& step = recording.steps[0];
    EXPECT_EQ(step.name, "one");
    EXPECT_EQ(step.line, 3U);
    EXPECT_EQ(step.result, "[]");
    EXPECT_FALSE(step.is_preparation());
    ASSERT_EQ(step.commands.size(), 2U);
    EXPECT_THAT(step.commands[0].words, ElementsAre("EVALSHA", "abc", "1"));
    EXPECT_EQ(step.commands[0].lua.size(), 2U);
    EXPECT_TRUE(step.commands[1].lua.empty());
    EXPECT_THAT(step.messages, ElementsAre(Message{"c", "p"}));
    EXPECT_EQ(step.changed.at("h").ttl, "90");
    EXPECT_THAT(step.changed.at("h").fields, ElementsAre(Pair("a", "1")));
    EXPECT_THAT(step.changed.at("s").members, ElementsAre("x", "y"));
    EXPECT_THAT(step.changed.at("z").scored, ElementsAre(Pair("b", "1"), Pair("a", "2")));
    EXPECT_TRUE(recording.steps[1].is_preparation());
    EXPECT_THAT(recording.steps[1].gone, ElementsAre("h"));
}

TEST(GoldenRecording, ResolvesEscapes) {
    auto const recording = parsed("step \"a\\\"\\\\\\n\\r\\t\\x00\\xff\\a\\b\"\nret \"\"\n");
    EXPECT_EQ(recording.steps[0].name, std::string("a\"\\\n\r\t\0\xff\a\b", 10));
}

TEST(GoldenRecording, AddsUpStates) {
    auto const recording = parsed(R"(step "one"
ret ""
key "h" hash 90
fld "h" "a" "1"
key "s" set -
mem "s" "x"
step "two"
ret ""
key "h" hash -
fld "h" "b" "2"
gone "s"
)");
    EXPECT_TRUE(recording.before(0).empty());
    EXPECT_EQ(recording.before(1).size(), 2U);
    auto const end = recording.before(2);
    ASSERT_EQ(end.size(), 1U);
    EXPECT_EQ(end.at("h").ttl, "-");
    EXPECT_THAT(end.at("h").fields, ElementsAre(Pair("b", "2")));
}

struct Malformed {
    char const* text;
    char const* complaint;
};

class GoldenFormat : public testing::TestWithParam<Malformed> {};

TEST_P(GoldenFormat, SaysWhatIsWrongAndWhere) {
    try {
        parsed(GetParam().text);
        FAIL() << "accepted";
    } catch (FormatError const& error) {
        EXPECT_THAT(error.what(), HasSubstr(GetParam().complaint));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenFormat,
    testing::Values(
        Malformed{"", "no step"}, Malformed{"ret \"\"\n", "r.txt:1: `ret` before the first step"},
        Malformed{"step \"a\"\nstep \"b\"\nret \"\"\n", "r.txt:2: the step \"a\" has no `ret`"},
        Malformed{"step \"a\"\nret \"\"\nstep \"a\"\nret \"\"\n", "r.txt:3: a second step"},
        Malformed{"step \"a\"\nret \"\"\nret \"\"\n", "r.txt:3: a second `ret`"},
        Malformed{"step \"a\"\nret \"\"\nnope \"\"\n", "r.txt:3: unknown record `nope`"},
        Malformed{"step \"a\" \"b\"\n", "wrong arguments of `step`"},
        Malformed{"step a\n", "wrong arguments of `step`"},
        Malformed{"step \"a\n", "no closing quote"}, Malformed{"step \"a\"b\n", "no space behind"},
        Malformed{"step  \"a\"\n", "two spaces"}, Malformed{"step \"a\" \n", "two spaces"},
        Malformed{"step a\"b\n", "a quote inside a bare word"},
        Malformed{"step \"\\q\"\n", "malformed escape \\q"},
        Malformed{"step \"\\xg0\"\n", "malformed escape \\x"},
        Malformed{"step \"\\xA0\"\n", "malformed escape \\x"},
        Malformed{"step \"a\\", "malformed escape \\"},
        Malformed{"step \"\x01\"\n", "must be escaped"},
        Malformed{"step \"a\"\nret \"\"\nlua \"HSET\"\n", "`lua` without a `cmd`"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" list -\nmem \"k\" \"x\"\n",
                  "unknown type `list`"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set 11\nmem \"k\" \"x\"\n", "is no TTL"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -1\nmem \"k\" \"x\"\n", "is no TTL"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -\n", "has no content"},
        Malformed{"step \"a\"\nret \"\"\nmem \"k\" \"x\"\n", "content of another key"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -\nfld \"k\" \"x\" \"y\"\n",
                  "content of another type"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -\nmem \"k\" \"x\"\nmem \"k\" \"x\"\n",
                  "member twice"},
        Malformed{
            "step \"a\"\nret \"\"\nkey \"k\" hash -\nfld \"k\" \"x\" \"\"\nfld \"k\" \"x\" \"\"\n",
            "field twice"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -\nmem \"k\" \"x\"\nkey \"k\" set -\n",
                  "a key twice"},
        Malformed{"step \"a\"\nret \"\"\nkey \"k\" set -\nmem \"k\" \"x\"\ngone \"k\"\n",
                  "both changed and gone"}));

}  // namespace
}  // namespace rollcall::test::golden

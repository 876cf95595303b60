#include "registry/condition.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace rollcall {
namespace {

Condition parse(std::string_view text) { return Condition::parse("--where", text); }

std::string message(std::string_view text) {
    try {
        parse(text);
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return {};
}

TEST(Condition, TakesEachOperator) {
    EXPECT_EQ(parse("a==b"), (Condition{"a", Comparison::eq, "b"}));
    EXPECT_EQ(parse("a!=b"), (Condition{"a", Comparison::ne, "b"}));
    EXPECT_EQ(parse("a>1"), (Condition{"a", Comparison::gt, "1"}));
    EXPECT_EQ(parse("a>=1"), (Condition{"a", Comparison::ge, "1"}));
    EXPECT_EQ(parse("a<1"), (Condition{"a", Comparison::lt, "1"}));
    EXPECT_EQ(parse("a<=1"), (Condition{"a", Comparison::le, "1"}));
}

TEST(Condition, SplitsAtTheFirstOperatorOnly) {
    EXPECT_EQ(parse("q==a=b=="), (Condition{"q", Comparison::eq, "a=b=="}));
    EXPECT_EQ(parse("u==redis://h:1/0?x=1,y=2"),
              (Condition{"u", Comparison::eq, "redis://h:1/0?x=1,y=2"}));
    EXPECT_EQ(parse("a<b>c"), (Condition{"a", Comparison::lt, "b>c"}));
    EXPECT_EQ(parse("my:field!=x"), (Condition{"my:field", Comparison::ne, "x"}));
}

TEST(Condition, IgnoresSpacesAroundBothSides) {
    EXPECT_EQ(parse(" weight >= 2 "), (Condition{"weight", Comparison::ge, "2"}));
    EXPECT_EQ(parse("name==two words"), (Condition{"name", Comparison::eq, "two words"}));
}

TEST(Condition, TakesAnEmptyValue) {
    EXPECT_EQ(parse("e=="), (Condition{"e", Comparison::eq, ""}));
}

TEST(Condition, RefusesWhatHasNoFieldOrOperator) {
    EXPECT_EQ(message("==b"), "--where \"==b\": a field must stand before the operator");
    EXPECT_EQ(message("  >1"), "--where \"  >1\": a field must stand before the operator");
    for (auto const* text : {"", "region", "a=b", "a~b", "a!b"}) {
        EXPECT_EQ(message(text),
                  "--where \"" + std::string{text} +
                      "\": must be FIELD OPERATOR VALUE with one of == != > >= < <=");
    }
}

TEST(Condition, ComparesAsNumbersWhatScriptsTakeForNumbers) {
    for (auto const* stored : {"10", " 10 ", "\t10\n", "+10", "0xA", "0xap0", "1e1", "10.0"}) {
        EXPECT_TRUE(meets(parse("a==10"), stored)) << stored;
        EXPECT_TRUE(meets(parse("a==0xa"), stored)) << stored;
        EXPECT_TRUE(meets(parse("a>9"), stored)) << stored;
    }
    EXPECT_TRUE(meets(parse("a>9e300"), "1e999")) << "infinite";
    for (auto const* stored : {"+-10", "10x", "ten", "", "0x", "1,0"}) {
        EXPECT_FALSE(meets(parse("a==10"), stored)) << stored;
        EXPECT_TRUE(meets(parse("a!=10"), stored)) << stored;
    }
    EXPECT_TRUE(meets(parse("a>10x"), "9")) << "as text";
    EXPECT_FALSE(meets(parse("a==nan"), "nan"));
}

TEST(Condition, WritesTheSymbolsThatItReads) {
    for (auto const* text : {"==", "!=", ">", ">=", "<", "<="}) {
        EXPECT_EQ(symbol(parse(std::string{"a"} + text + "1").comparison), text);
    }
}

}  // namespace
}  // namespace rollcall

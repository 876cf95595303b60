#include "core/java_text.hpp"

#include <bit>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

#include "support/vectors.hpp"

namespace rollcall {
namespace {

using test::rows;
using test::text;

TEST(JavaText, OfDoubles) {
    for (auto const& value : rows("streaming/java_numbers", "doubles")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(java_text(std::strtod(text(row, "value").c_str(), nullptr)), text(row, "text"));
    }
}

TEST(JavaText, OfFloats) {
    for (auto const& value : rows("streaming/java_numbers", "floats")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(java_text(std::strtof(text(row, "value").c_str(), nullptr)), text(row, "text"));
    }
}

TEST(JavaText, GivesBackTheSameDouble) {
    std::mt19937_64 random{7};
    for (int i = 0; i < 20'000; ++i) {
        auto const value = std::bit_cast<double>(random());
        if (value != value) continue;
        EXPECT_EQ(std::strtod(java_text(value).c_str(), nullptr), value) << java_text(value);
    }
}

TEST(ParseJavaInt, TakesSignAndDigits) {
    EXPECT_EQ(parse_java_int("0"), 0);
    EXPECT_EQ(parse_java_int("+5"), 5);
    EXPECT_EQ(parse_java_int("-5"), -5);
    EXPECT_EQ(parse_java_int("-0"), 0);
    EXPECT_EQ(parse_java_int("007"), 7);
    EXPECT_EQ(parse_java_int("2147483647"), std::numeric_limits<int>::max());
    EXPECT_EQ(parse_java_int("-2147483648"), std::numeric_limits<int>::min());
}

TEST(ParseJavaInt, TakesNothingElse) {
    for (auto const* const bad : {"", "+", "-", "+-1", "-+1", "++1", " 1", "1 ", "1.0", "1e3",
                                  "0x1", "2147483648", "-2147483649", "1_0", "a"}) {
        EXPECT_EQ(parse_java_int(bad), std::nullopt) << bad;
    }
}

TEST(ParseJavaLong, HasItsRange) {
    EXPECT_EQ(parse_java_long("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parse_java_long("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(parse_java_long("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_java_long("1.7e12"), std::nullopt);
}

TEST(ParseJavaBool, IsTrueForTrueAlone) {
    EXPECT_TRUE(parse_java_bool("true"));
    EXPECT_TRUE(parse_java_bool("TrUe"));
    for (auto const* const other : {"", "1", "yes", " true", "true ", "false", "t"}) {
        EXPECT_FALSE(parse_java_bool(other)) << other;
    }
}

}  // namespace
}  // namespace rollcall

#include "cli/parse.hpp"

#include <gtest/gtest.h>

#include "cli/exit_code.hpp"

namespace rollcall::cli {
namespace {

using namespace std::chrono_literals;

template <class Function>
std::string message(Function function) {
    try {
        function();
    } catch (UsageError const& error) {
        return error.what();
    }
    return {};
}

TEST(ParseDuration, TakesUnitsFromLargeToSmall) {
    EXPECT_EQ(parse_duration("t", "400ms"), 400ms);
    EXPECT_EQ(parse_duration("t", "10s"), 10s);
    EXPECT_EQ(parse_duration("t", "2m"), 2min);
    EXPECT_EQ(parse_duration("t", "1h"), 1h);
    EXPECT_EQ(parse_duration("t", "1h30m"), 90min);
    EXPECT_EQ(parse_duration("t", "1m1s1ms"), 61'001ms);
    EXPECT_EQ(parse_duration("t", "7d"), 7 * 24h);
}

TEST(ParseDuration, CountsABareNumberInSeconds) {
    EXPECT_EQ(parse_duration("t", "90"), 90s);
    EXPECT_EQ(parse_duration("t", "007"), 7s);
}

TEST(ParseDuration, RefusesWhatIsNotADuration) {
    for (auto const* text : {"", " ", "s", "-5s", "+5s", "5 s", "5sec", "1.5s", "1m1h", "5s5s",
                             "1h30", "ms", "5S", "0x5s", "10s\n"}) {
        EXPECT_NE(message([&] { parse_duration("t", text); }), "") << text;
    }
}

TEST(ParseDuration, RefusesWhatOverflows) {
    for (auto const* text : {"99999999999999999999s", "9223372036854775807s",
                             "9223372036854775807h", "9223372036854775807ms1ms", "99999999h"}) {
        EXPECT_NE(message([&] { parse_duration("t", text); }), "") << text;
    }
}

TEST(ParseDuration, KeepsWithinItsRange) {
    DurationRange const range{1s, 10s, true};
    EXPECT_EQ(parse_duration("--lease", "1s", range), 1s);
    EXPECT_EQ(parse_duration("--lease", "10s", range), 10s);
    EXPECT_EQ(parse_duration("--lease", "1000ms", range), 1s);
    for (auto const* text : {"0", "0s", "999ms", "1500ms", "11s", "-1s"}) {
        EXPECT_EQ(message([&] { parse_duration("--lease", text, range); }),
                  "--lease \"" + std::string{text} +
                      "\": must be a duration such as 10s, 2m or 1h30m, from 1s to 10s, in whole "
                      "seconds");
    }
    EXPECT_EQ(parse_duration("--settle", "0", {0ms, 1h}), 0ms);
}

TEST(FormatDuration, IsReadBackAsItself) {
    for (auto const duration : {1ms, 400ms, 1'000ms, 61'001ms, 90'000ms, 5'400'000ms,
                                std::chrono::milliseconds{90'061'001}}) {
        EXPECT_EQ(parse_duration("t", format_duration(duration)), duration);
    }
    EXPECT_EQ(format_duration(90min), "1h30m");
    EXPECT_EQ(format_duration(0ms), "0s");
}

TEST(ParseInteger, KeepsWithinItsRange) {
    EXPECT_EQ(parse_port("--port", "0"), 0);
    EXPECT_EQ(parse_port("--port", "65535"), 65'535);
    for (auto const* text :
         {"", "-1", "65536", "70000", "8080x", " 80", "+80", "0x50", "99999999999999999999"}) {
        EXPECT_EQ(message([&] { parse_port("--port", text); }),
                  "--port \"" + std::string{text} + "\": must be an integer from 0 to 65535");
    }
    EXPECT_EQ(message([&] { parse_weight("weight", "-5"); }),
              "weight \"-5\": must be an integer from 0 to 1000000");
}

TEST(ParseMetadata, SplitsAtTheFirstEqualsSignOnly) {
    Metadata const expected{
        {"u", "redis://h:1/0?x=1,y=2"}, {"q", "a=b=="}, {"e", ""}, {"j", R"({"a":[1,2]})"}};
    EXPECT_EQ(parse_metadata("--metadata",
                             {"u=redis://h:1/0?x=1,y=2", "q=a=b==", "e=", R"(j={"a":[1,2]})"}),
              expected);
}

TEST(ParseMetadata, RefusesWhatHasNoKeyOrComesTwice) {
    auto const rule = "must be KEY=VALUE with a key before the first '='";
    for (auto const* pair : {"", "novalue", "=v", "="}) {
        EXPECT_EQ(message([&] { parse_metadata("--metadata", {pair}); }),
                  "--metadata \"" + std::string{pair} + "\": " + rule);
    }
    EXPECT_EQ(message([&] { parse_metadata("--metadata", {"a=1", "a=2"}); }),
              "--metadata \"a=2\": this key was given before");
}

}  // namespace
}  // namespace rollcall::cli

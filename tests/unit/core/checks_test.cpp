#include "core/checks.hpp"

#include <gtest/gtest.h>
#include <string>

#include "support/refusal.hpp"

namespace rollcall {
namespace {

using test::refusal;

// Hosts, ports and metadata are checked with the vectors of each layout.

TEST(Checks, NameFieldValueAndRule) {
    EXPECT_EQ(refusal([] { check_not_blank("f", " \t"); }),
              R"(f " \t": must not be empty or blank)");
    EXPECT_EQ(refusal([] { check_size("f", "abcd", 3); }),
              R"(f "abcd": must not be longer than 3 bytes)");
    EXPECT_EQ(refusal([] { check_utf8("f", "\xff"); }), R"(f "\xff": must be UTF-8)");
    EXPECT_EQ(refusal([] { check_without("f", "a#b@c", "@#"); }),
              R"(f "a#b@c": must not contain '#')");
}

TEST(Checks, TellWhiteSpaceFromControlCharacters) {
    EXPECT_EQ(refusal([] { check_one_word("f", "a b"); }),
              R"(f "a b": must not contain white space)");
    EXPECT_EQ(refusal([] { check_one_word("f", "a\x7f"); }),
              R"(f "a\x7f": must not contain control characters)");
    EXPECT_EQ(refusal([] { check_no_controls("f", "a\n"); }),
              R"(f "a\n": must not contain control characters)");
}

TEST(Checks, AcceptAllElse) {
    EXPECT_EQ(refusal([] {
                  check_not_blank("f", " x");
                  check_size("f", "abc", 3);
                  check_utf8("f", "é中😀");
                  check_one_word("f", "é中😀#@:");
                  check_no_controls("f", "a b\u00a0");
                  check_without("f", "abc", "@#");
                  check_without("f", "", "@#");
              }),
              "");
}

}  // namespace
}  // namespace rollcall

#include "cli/print/text.hpp"

#include <gtest/gtest.h>

#include "core/text.hpp"

namespace rollcall::cli {
namespace {

std::string utf8(char32_t code_point) {
    std::string text;
    append_code_point(text, code_point);
    return text;
}

TEST(TerminalSafe, LeavesOrdinaryTextAlone) {
    for (std::string const text :
         {"", "orders-1", "a b", R"(back\slash "quote")", "日本語", "e\xCC\x81", "😀", "Ünïcödé"}) {
        EXPECT_EQ(terminal_safe(text), text);
    }
}

TEST(TerminalSafe, ShowsControlsInsteadOfSendingThem) {
    EXPECT_EQ(terminal_safe("a\nb\rc\td"), R"(a\nb\rc\td)");
    EXPECT_EQ(terminal_safe("\x1b[2J\a\x7f"), R"(\x1b[2J\x07\x7f)");
    EXPECT_EQ(terminal_safe(std::string{"a\0b", 3}), R"(a\x00b)");
    EXPECT_EQ(terminal_safe("\xC2\x9B"
                            "2J"),
              R"(\x9b2J)");
    EXPECT_EQ(terminal_safe("\x1b]8;;http://x\x1b\\y"), R"(\x1b]8;;http://x\x1b\y)");
}

TEST(TerminalSafe, ShowsWhatReordersOrHidesText) {
    for (char32_t const c : {0xADu, 0x61Cu, 0x200Bu, 0x200Eu, 0x200Fu, 0x2028u, 0x2029u, 0x202Au,
                             0x202Eu, 0x2060u, 0x2066u, 0x2069u, 0xFEFFu, 0xE0041u}) {
        auto const safe = terminal_safe("a" + utf8(c) + "b");
        EXPECT_TRUE(safe.starts_with("a\\")) << safe;
        EXPECT_TRUE(safe.ends_with("b")) << safe;
    }
    EXPECT_EQ(terminal_safe(utf8(0x202E)), R"(\u202e)");
}

TEST(TerminalSafe, ShowsBytesThatAreNotUtf8) {
    EXPECT_EQ(terminal_safe("\xFF\xFE"), R"(\xff\xfe)");
    EXPECT_EQ(terminal_safe("\xC0\xAF"), R"(\xc0\xaf)") << "overlong";
    EXPECT_EQ(terminal_safe("\xED\xA0\x80"), R"(\xed\xa0\x80)") << "a surrogate";
    EXPECT_EQ(terminal_safe("\xE2\x82"), R"(\xe2\x82)") << "cut off";
    EXPECT_EQ(terminal_safe(utf8(0xFFFD)), utf8(0xFFFD)) << "a real replacement character";
}

TEST(TerminalSafe, NeverLetsAnythingThroughThatATerminalActsOn) {
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        for (auto const safe = terminal_safe(utf8(c)); unsigned char const byte : safe) {
            ASSERT_FALSE(byte < 0x20 || byte == 0x7F) << std::hex << static_cast<unsigned>(c);
        }
        if (is_control(c)) {
            ASSERT_EQ(terminal_safe(utf8(c)).front(), '\\');
        }
    }
}

TEST(Columns, CountsWhatATerminalDraws) {
    EXPECT_EQ(columns(""), 0u);
    EXPECT_EQ(columns("abc"), 3u);
    EXPECT_EQ(columns("日本語"), 6u);
    EXPECT_EQ(columns("e\xCC\x81"), 1u);
    EXPECT_EQ(columns("😀"), 2u);
}

TEST(WithoutCredentials, CutsWhatMayBeAPassword) {
    EXPECT_EQ(without_credentials("redis://u:p@h:1"), "redis://…@h:1");
    EXPECT_EQ(without_credentials("redis://:p@s/w#d@h:1"), "redis://…@h:1");
    EXPECT_EQ(without_credentials("redis://h:1"), "redis://h:1");
    EXPECT_EQ(without_credentials("a@b"), "a@b");
}

}  // namespace
}  // namespace rollcall::cli

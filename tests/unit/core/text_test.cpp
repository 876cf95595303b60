#include "core/text.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rollcall {
namespace {

using namespace std::string_literals;

struct Utf8Case {
    std::string bytes;
    std::string replaced;  // Equal to `bytes` where they are well-formed.
};

// Ill-formed parts are replaced as Java and the Unicode standard (table 3-8) do: one U+FFFD for
// each longest beginning of a character.
Utf8Case const utf8_cases[] = {
    {"", ""},
    {"plain \x7f", "plain \x7f"},
    {"\0"s, "\0"s},
    {"é中😀", "é中😀"},
    {"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
     "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"},
    {"\x80", "\uFFFD"},
    {"a\xff"s + "b", "a\uFFFDb"},
    {"\xc0\xaf", "\uFFFD\uFFFD"},            // overlong
    {"\xc1\xbf", "\uFFFD\uFFFD"},            // overlong
    {"\xe0\x80\xaf", "\uFFFD\uFFFD\uFFFD"},  // overlong
    {"\xf0\x80\x80\xaf", "\uFFFD\uFFFD\uFFFD\uFFFD"},
    {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
    {"\xed\xbf\xbf", "\uFFFD\uFFFD\uFFFD"},            // surrogate
    {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
    {"\xf5\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
    {"\xc3", "\uFFFD"},  // cut short
    {"\xe2\x82", "\uFFFD"},
    {"\xf0\x9f\x98", "\uFFFD"},
    {"\xe2\x82x", "\uFFFDx"},
    {"\xe2\xe2\x82\xac", "\uFFFD€"},
    {"\xf0\x9f\xf0\x9f\x98\x80", "\uFFFD😀"},
    {"\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
     "\uFFFD\uFFFD\uFFFD\x62\uFFFD\x63\uFFFD\uFFFD\x64"},
};

TEST(Utf8, TellsIllFormed) {
    for (auto const& [bytes, replaced] : utf8_cases) {
        EXPECT_EQ(is_utf8(bytes), bytes == replaced) << shown(bytes);
    }
}

TEST(Utf8, ReplacesIllFormed) {
    for (auto const& [bytes, replaced] : utf8_cases) {
        EXPECT_EQ(to_utf8(bytes), replaced) << shown(bytes);
        std::string out = "x";
        append_utf8(out, bytes);
        EXPECT_EQ(out, "x" + replaced) << shown(bytes);
    }
}

TEST(Utf8, DecodesWhatItEncodes) {
    for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 257) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        std::string bytes;
        append_code_point(bytes, c);
        ASSERT_TRUE(is_utf8(bytes)) << std::hex << static_cast<unsigned>(c);
        std::size_t at = 0;
        ASSERT_EQ(next_code_point(bytes, at), c);
        ASSERT_EQ(at, bytes.size());
    }
}

TEST(Trim, RemovesWhatJavaRemoves) {
    EXPECT_EQ(trim(" \t\r\n\0\x01 a b \x1f"s), "a b");
    EXPECT_EQ(trim("\u00a0a\x7f"), "\u00a0a\x7f");
    EXPECT_EQ(trim(" "), "");
    EXPECT_TRUE(is_blank(""));
    EXPECT_TRUE(is_blank("\0\x1f "s));
    EXPECT_FALSE(is_blank("\u00a0"));
}

TEST(Shown, ShowsAnythingOnOneLine) {
    EXPECT_EQ(shown("a b"), R"("a b")");
    EXPECT_EQ(shown("\"\\"), R"("\"\\")");
    EXPECT_EQ(shown("\n\r\t\0\x1b\x7f"s), R"("\n\r\t\x00\x1b\x7f")");
    EXPECT_EQ(shown("\u009b\u202e\u2066\ufeff"), R"("\x9b\u202e\u2066\ufeff")");
    EXPECT_EQ(shown("\xff\xc3"), R"("\xff\xc3")");
    EXPECT_EQ(shown("日本語é😀"), R"("日本語é😀")");
}

TEST(Shown, ShortensWithoutCuttingACharacter) {
    std::string long_text;
    for (int i = 0; i < 1'000; ++i) long_text += "é";
    auto const result = shown(long_text);
    EXPECT_LT(result.size(), 200u);
    EXPECT_TRUE(is_utf8(result));
    EXPECT_NE(result.find("2000 bytes"), std::string::npos) << result;
    std::string const exact(80, 'x');
    EXPECT_EQ(shown(exact), '"' + exact + '"');
}

TEST(Refuse, NamesFieldValueAndRule) {
    try {
        refuse("host", "a\nb", "must not contain line breaks");
        FAIL();
    } catch (std::invalid_argument const& error) {
        EXPECT_STREQ(error.what(), R"(host "a\nb": must not contain line breaks)");
    }
    try {
        refuse("port", 70'000, "must be smaller");
        FAIL();
    } catch (std::invalid_argument const& error) {
        EXPECT_STREQ(error.what(), "port 70000: must be smaller");
    }
}

TEST(LowerCase, ChangesAsciiLettersAlone) {
    EXPECT_EQ(lower_case("HTTP-2_Zz@[`{É"), "http-2_zz@[`{É");
    EXPECT_EQ(lower_case(""), "");
}

TEST(Joined, IsAllPartsInOrder) {
    EXPECT_EQ(joined({"a", "", "b:", "c"}), "ab:c");
    EXPECT_EQ(joined({}), "");
}

}  // namespace
}  // namespace rollcall

#include "core/text_scan.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <string>

namespace rollcall {
namespace {

/// Every byte at every place of texts that end before, at and behind the width of a word, among
/// neighbours that differ from each stopping byte by one bit or by one.
template <class Prefix, class Stops>
void expect_prefix(Prefix prefix, Stops stops) {
    for (std::size_t size = 0; size < 20; ++size) {
        for (char const filler : {' ', '!', '#', '[', ']', '\x7f', 'a'}) {
            std::string text(size, filler);
            EXPECT_EQ(prefix(text), size);
            for (std::size_t at = 0; at < size; ++at) {
                for (int byte = 0; byte < 256; ++byte) {
                    text[at] = static_cast<char>(byte);
                    ASSERT_EQ(prefix(text), stops(byte) ? at : size)
                        << size << ' ' << filler << ' ' << at << ' ' << byte;
                    // A later stop, however it is marked, must not hide an earlier one.
                    auto two = text;
                    two.back() = '\x80';
                    ASSERT_EQ(prefix(two), stops(byte) ? at : size - 1)
                        << size << ' ' << filler << ' ' << at << ' ' << byte;
                }
                text[at] = filler;
            }
        }
    }
}

TEST(TextScan, AsciiEndsAtTheHighestBit) {
    expect_prefix([](std::string const& text) { return ascii_prefix(text); },
                  [](int byte) { return byte >= 0x80; });
}

TEST(TextScan, PlainJsonEndsAtControlsQuotesBackslashesAndNonAscii) {
    expect_prefix(
        [](std::string const& text) { return json_plain_prefix(text); },
        [](int byte) { return byte >= 0x80 || byte < 0x20 || byte == '"' || byte == '\\'; });
}

}  // namespace
}  // namespace rollcall

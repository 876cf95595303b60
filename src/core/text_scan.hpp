#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rollcall {

// Eight bytes at a time. A mask marks bytes by their highest bit; a wrong mark can only stand above
// a right one, so that the lowest is always right.

constexpr std::uint64_t each_byte(unsigned char byte) noexcept {
    return 0x0101010101010101u * byte;
}

constexpr std::uint64_t bytes_below(std::uint64_t word, unsigned char limit) noexcept {
    return (word - each_byte(limit)) & ~word & each_byte(0x80);
}

constexpr std::uint64_t bytes_equal(std::uint64_t word, char c) noexcept {
    return bytes_below(word ^ each_byte(static_cast<unsigned char>(c)), 1);
}

/// How many bytes at the start of `text` the `mask` of a word leaves unmarked and `stops` does not
/// stop at; the two say the same.
template <class Mask, class Stops>
std::size_t unmarked_prefix(std::string_view text, Mask mask, Stops stops) noexcept {
    std::size_t at = 0;
    if constexpr (std::endian::native == std::endian::little) {
        for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, text.data() + at, sizeof word);
            if (auto const marks = mask(word)) {
                return at + static_cast<std::size_t>(std::countr_zero(marks)) / 8;
            }
        }
    }
    while (at < text.size() && !stops(static_cast<unsigned char>(text[at]))) ++at;
    return at;
}

/// How many ASCII characters `text` begins with.
inline std::size_t ascii_prefix(std::string_view text) noexcept {
    return unmarked_prefix(
        text, [](std::uint64_t word) { return word & each_byte(0x80); },
        [](unsigned char byte) { return byte >= 0x80; });
}

/// How many characters `text` begins with that stand for themselves in a JSON string and are ASCII.
inline std::size_t json_plain_prefix(std::string_view text) noexcept {
    return unmarked_prefix(
        text,
        [](std::uint64_t word) {
            return (word & each_byte(0x80)) | bytes_below(word, 0x20) | bytes_equal(word, '"') |
                   bytes_equal(word, '\\');
        },
        [](unsigned char byte) {
            return byte >= 0x80 || byte < 0x20 || byte == '"' || byte == '\\';
        });
}

}  // namespace rollcall

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace rollcall::live {

/// A short hash for short names, after wyhash: two overlapping reads and two wide products for up
/// to 16 bytes. The look-up by name is mostly this; the standard library's takes twice as long.
///
/// The seed keeps others from choosing names that collide.
class NameHash {
public:
    using is_transparent = void;
    using is_avalanching = std::true_type;  // NOLINT(readability-identifier-naming): Boost's

    // Mixed, because a product with what a small seed and a size make could be nothing.
    explicit NameHash(std::uint64_t seed) noexcept : seed_(mix(seed ^ first, second)) {}

    std::size_t operator()(std::string_view name) const noexcept {
        auto const* at = name.data();
        auto left = name.size();
        auto hash = seed_ ^ left;
        for (; left > 16; at += 16, left -= 16) hash = mix(word(at) ^ first, word(at + 8) ^ hash);
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        if (left >= 8) {
            low = word(at);
            high = word(at + left - 8);
        } else if (left >= 4) {
            low = half(at);
            high = half(at + left - 4);
        } else if (left > 0) {
            low = byte(at[0]) << 16 | byte(at[left / 2]) << 8 | byte(at[left - 1]);
        }
        return mix(second, mix(low ^ first, high ^ hash));
    }

private:
    static constexpr std::uint64_t first = 0xa0761d6478bd642f;
    static constexpr std::uint64_t second = 0xe7037ed1a0b428db;

    static std::uint64_t mix(std::uint64_t left, std::uint64_t right) noexcept {
        __extension__ using Wide = unsigned __int128;
        auto const product = Wide{left} * right;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    template <class Word>
    static Word read(char const* at) noexcept {
        Word read = 0;
        std::memcpy(&read, at, sizeof read);
        return read;
    }
    static std::uint64_t word(char const* at) noexcept { return read<std::uint64_t>(at); }
    static std::uint64_t half(char const* at) noexcept { return read<std::uint32_t>(at); }
    static std::uint64_t byte(char at) noexcept { return static_cast<unsigned char>(at); }

    std::uint64_t seed_;
};

}  // namespace rollcall::live

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rollcall::balance {

/// Where a text stands on the ring: the first 8 bytes of its MD5, big-endian, without the sign
/// bit. Source: spec 11.3. For spreading, as the design has it, and for nothing secret.
std::uint64_t ring_hash(std::string_view text) noexcept;

/// The same of eight texts at once, which takes about as long as three alone.
std::array<std::uint64_t, 8> ring_hashes(std::array<std::string_view, 8> const& texts) noexcept;

/// `hashes[i]` becomes that of `beginning` followed by `i` in decimal digits. Takes less than that
/// for each, because what is alike is prepared once.
void ring_hashes(std::string_view beginning, std::span<std::uint64_t> hashes);

}  // namespace rollcall::balance

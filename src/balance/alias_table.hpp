#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/random.hpp"

namespace rollcall::balance {

/// Draws an index with the probability of its weight, in two steps whatever the number of weights
/// (Walker, Vose): a slot is drawn evenly, and it has either its own index or one other.
///
/// Shares are exact to 2^-32; a weight of 0 is never drawn.
class AliasTable {
public:
    AliasTable() = default;

    /// The weights' sum is above zero and below 2^63. They are used up.
    explicit AliasTable(std::span<std::uint64_t> weights);

    /// `random` is uniform in 2^64. Not for a table of no weights.
    std::size_t pick(std::uint64_t random) const noexcept {
        auto const [index, rest] = spread(random, slots_.size());
        auto const& slot = slots_[index];
        // Which of the two is a matter of chance: a branch would be guessed wrong half of the time.
        auto const if_other = std::size_t{0} - static_cast<std::size_t>((rest >> 32) >= slot.own);
        return index ^ ((index ^ slot.other) & if_other);
    }

private:
    struct Slot {
        std::uint32_t own;  ///< Share of the slot, in 2^32, that has its own index.
        std::uint32_t other;
    };
    std::vector<Slot> slots_;
};

}  // namespace rollcall::balance

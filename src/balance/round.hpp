#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rollcall::balance {

/// An order in which each of some indices has its turn as often as its weight, divided by the
/// greatest common divisor of all, evenly spread: a round, which begins again at its end.
///
/// Short rounds are those of smooth weighted round robin. Longer ones go over the weights, laid end
/// to end, in steps of the golden section of their sum: a turn of those costs the same whatever the
/// number of weights, and needs no table as long as the round.
class Round {
public:
    Round() = default;
    /// The weights are above zero.
    explicit Round(std::span<std::uint32_t const> weights);

    /// Never given to two rounds; 0: of the one without turns.
    std::uint64_t number() const noexcept { return number_; }
    std::uint64_t period() const noexcept { return period_; }

    /// Positions are below `period()`.
    std::uint64_t behind(std::uint64_t position) const noexcept {
        auto const next = position + step_;
        return next < period_ ? next : next - period_;
    }
    /// Whose turn it is there.
    std::size_t at(std::uint64_t position) const noexcept {
        if (!sequence_.empty()) return sequence_[position];
        if (ends_.empty()) return position;  // All weigh the same.
        auto index = firsts_[position >> shift_];
        while (ends_[index] <= position) ++index;
        return index;
    }

private:
    static constexpr std::uint64_t most_listed = std::uint64_t{1} << 16;

    void list();
    void lay_out(std::span<std::uint32_t const> weights, std::uint32_t divisor);

    std::uint64_t number_ = 0;
    std::uint64_t period_ = 0;
    std::uint64_t step_ = 1;
    std::vector<std::uint32_t> sequence_;  ///< Unless it is too long: by position.
    // Of a longer one: where each weight ends; and for each stretch of 2^shift positions, the first
    // index with a part of it.
    std::vector<std::uint64_t> ends_;
    std::vector<std::uint32_t> firsts_;
    int shift_ = 0;
};

}  // namespace rollcall::balance

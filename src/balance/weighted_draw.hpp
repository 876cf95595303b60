#pragma once

#include <cstddef>
#include <cstdint>

#include "balance/random.hpp"

namespace rollcall::balance {

/// Draws one of those that it is offered with the probability of its weight, in one pass and with
/// nothing kept: each takes the place of the one drawn before it with the share of its weight in
/// the sum so far.
class WeightedDraw {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    explicit WeightedDraw(Random& random) noexcept : random_(random) {}

    /// All weights together are below 2^64; a weight of 0 is never drawn.
    void offer(std::size_t index, std::uint64_t weight) noexcept {
        sum_ += weight;
        if (spread(random_(), sum_).index < weight) drawn_ = index;
    }

    std::size_t drawn() const noexcept { return drawn_; }

private:
    Random& random_;
    std::uint64_t sum_ = 0;
    std::size_t drawn_ = none;
};

}  // namespace rollcall::balance

#include "balance/weighted_draw.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "unit/balance/chi_square.hpp"

namespace rollcall::balance {
namespace {

using Weights = std::vector<std::uint64_t>;

Weights draws(Weights const& weights, std::uint64_t count) {
    Weights counted(weights.size());
    Random random{11};
    for (std::uint64_t i = 0; i < count; ++i) {
        WeightedDraw draw{random};
        for (std::size_t at = 0; at < weights.size(); ++at) draw.offer(at, weights[at]);
        ++counted.at(draw.drawn());
    }
    return counted;
}

TEST(WeightedDraw, IsInProportionToTheWeights) {
    for (Weights const& weights :
         {Weights{1}, Weights{3, 1, 2}, Weights{2, 3, 5}, Weights{0, 5, 0, 1, 0},
          Weights{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200}, Weights(50, 3)}) {
        EXPECT_LT(test::deviation(draws(weights, 100'000), weights), 4);
    }
    EXPECT_GT(test::deviation(draws({3, 1, 2}, 100'000), Weights{3, 2, 1}), 10) << "blind";
}

TEST(WeightedDraw, SumsInSixtyFourBits) {
    Weights const greatest{2'147'483'647, 2'147'483'647, 1, 2'147'483'647};
    EXPECT_LT(test::deviation(draws({5, 5, 0, 5}, 100'000), Weights{1, 1, 0, 1}), 4);
    auto const counted = draws(greatest, 100'000);
    EXPECT_EQ(counted[2], 0U);
    EXPECT_LT(test::deviation(counted, Weights{1, 1, 0, 1}), 4);
}

TEST(WeightedDraw, DrawsNobodyWhereNobodyHasWeight) {
    Random random{1};
    WeightedDraw draw{random};
    EXPECT_EQ(draw.drawn(), WeightedDraw::none);
    draw.offer(0, 0);
    draw.offer(1, 0);
    EXPECT_EQ(draw.drawn(), WeightedDraw::none);
}

}  // namespace
}  // namespace rollcall::balance

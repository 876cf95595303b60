#include "balance/alias_table.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

#include "balance/random.hpp"
#include "unit/balance/chi_square.hpp"

namespace rollcall::balance {
namespace {

using Weights = std::vector<std::uint64_t>;

AliasTable table_of(Weights weights) { return AliasTable{weights}; }

/// Counts what evenly spaced numbers draw. That gives each weight its share to within a few draws.
Weights counts(AliasTable const& table, std::size_t size, std::uint64_t draws) {
    Weights counted(size);
    auto const step = std::numeric_limits<std::uint64_t>::max() / draws;
    for (std::uint64_t i = 0; i < draws; ++i) ++counted.at(table.pick(i * step));
    return counted;
}

void expect_shares(Weights const& weights) {
    constexpr std::uint64_t draws = 100'000;
    auto const counted = counts(table_of(weights), weights.size(), draws);
    auto const full = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        auto const expected = static_cast<double>(weights[i]) / full * draws;
        // Each slot that a weight has a part in adds a rounding.
        EXPECT_NEAR(static_cast<double>(counted[i]), expected, static_cast<double>(weights.size()))
            << "weight " << i << " of " << weights.size() << " is " << weights[i];
        if (weights[i] == 0) {
            EXPECT_EQ(counted[i], 0U);
        }
    }
}

TEST(AliasTable, GivesEveryWeightItsShare) {
    expect_shares({1});
    expect_shares({1, 1});
    expect_shares({3, 1});
    expect_shares({1, 3});
    expect_shares({0, 5});
    expect_shares({5, 0});
    expect_shares({0, 0, 7, 0});
    expect_shares({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    expect_shares({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    expect_shares({100, 1, 1, 1, 100, 1, 1, 0, 0, 50});
}

TEST(AliasTable, GivesEveryWeightItsShareForAllSmallTables) {
    for (std::uint64_t code = 1; code < 4 * 4 * 4 * 4; ++code) {
        expect_shares({code % 4, code / 4 % 4, code / 16 % 4, code / 64});
    }
}

TEST(AliasTable, GivesRandomWeightsTheirShares) {
    Random random{1};
    for (std::size_t size = 1; size <= 128; ++size) {
        Weights weights(size);
        for (auto& weight : weights) weight = random() % 8 == 0 ? 0 : random() % 1000;
        weights[random() % size] = 1 + random() % 100'000;
        expect_shares(weights);
    }
}

TEST(AliasTable, TakesTheGreatestWeights) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    expect_shares({most, most, 0, most});
    Weights const many(20'000, most * 128);
    auto const counted = counts(table_of(many), many.size(), 1'000'000);
    for (auto const count : counted) EXPECT_NEAR(static_cast<double>(count), 50, 2);
}

TEST(AliasTable, NeverDrawsAWeightOfZero) {
    // The ends of every slot are where rounding would show.
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    for (Weights const& weights :
         {Weights{0, 1}, Weights{1, 0}, Weights{0, 1, 0}, Weights{7, 0, 11}}) {
        auto const table = table_of(weights);
        auto const slot = most / weights.size() + 1;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            EXPECT_NE(weights[table.pick(slot * i)], 0U);
            EXPECT_NE(weights[table.pick(slot * i + (slot - 2))], 0U);
        }
    }
}

TEST(AliasTable, IsDrawnFromAtRandom) {
    Weights const weights{1, 2, 3, 0, 40, 500, 7};
    auto const table = table_of(weights);
    Weights counted(weights.size());
    Random random{7};
    for (int i = 0; i < 200'000; ++i) ++counted[table.pick(random())];
    EXPECT_LT(test::deviation(counted, weights), 4);
    EXPECT_GT(test::deviation(counted, Weights{1, 2, 3, 0, 40, 400, 7}), 10) << "the test is blind";
}

}  // namespace
}  // namespace rollcall::balance

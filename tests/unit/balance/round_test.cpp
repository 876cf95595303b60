#include "balance/round.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

#include "balance/random.hpp"
#include "balance/turns.hpp"
#include "unit/balance/chi_square.hpp"

namespace rollcall::balance {
namespace {

using Weights = std::vector<std::uint64_t>;

Round round_of(Weights const& weights) {
    return Round{std::vector<std::uint32_t>{weights.begin(), weights.end()}};
}

Weights reduced(Weights weights) {
    std::uint64_t divisor = 0;
    for (auto const weight : weights) divisor = std::gcd(divisor, weight);
    for (auto& weight : weights) weight /= divisor;
    return weights;
}

/// Of so many turns, from `position` on.
Weights counts(Round const& round, std::size_t size, std::uint64_t position, std::uint64_t turns) {
    Weights counted(size);
    for (std::uint64_t i = 0; i < turns; ++i) {
        ++counted.at(round.at(position));
        position = round.behind(position);
    }
    return counted;
}

void expect_exact_shares(Weights const& weights) {
    auto const round = round_of(weights);
    auto const shares = reduced(weights);
    ASSERT_EQ(round.period(), std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}));
    Random random{1};
    for (int i = 0; i < 5; ++i) {
        auto const start = random() % round.period();
        EXPECT_EQ(counts(round, weights.size(), start, round.period()), shares);
    }
}

TEST(Round, GivesEachItsShareExactly) {
    expect_exact_shares({1});
    expect_exact_shares({7});
    expect_exact_shares({2, 2, 2});
    expect_exact_shares({5, 1, 1});
    expect_exact_shares({10, 20, 30});
    expect_exact_shares({1, 1'000});
    Random random{2};
    for (std::size_t size = 2; size < 60; ++size) {
        Weights weights(size);
        for (auto& weight : weights) weight = 1 + random() % 40;
        expect_exact_shares(weights);
    }
}

TEST(Round, GivesEachItsShareExactlyWhenItIsTooLongForATable) {
    Random random{3};
    Weights weights(1'000);
    for (auto& weight : weights) weight = 1 + random() % 1'000;
    expect_exact_shares(weights);
    expect_exact_shares({1, 2, 3, 99'991});
    Weights skewed(500, 1);
    skewed[250] = 300'007;
    expect_exact_shares(skewed);
}

TEST(Round, FollowsTheSmoothSequence) {
    auto const round = round_of(Weights{5, 1, 1});
    std::vector<std::size_t> order;
    for (std::uint64_t i = 0; i < round.period(); ++i) order.push_back(round.at(i));
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1, 0, 2, 0, 0}));
}

TEST(Round, TakesTheGreatestWeights) {
    // A whole period would take years: what is seen of it is spread evenly.
    std::uint64_t const most = 2'147'483'647;
    Weights weights(1'000, most);
    weights[0] = most - 1;
    weights[1] = 1;
    auto const round = round_of(weights);
    auto const counted = counts(round, weights.size(), 12'345, 100'000);
    EXPECT_LE(counted[1], 1U);
    counts(round, weights.size(), round.period() - 1, 10);
    for (std::size_t i = 2; i < weights.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(counted[i]), 100, 3) << i;
    }
}

TEST(Round, SpreadsTheTurnsOfEachEvenly) {
    Random random{4};
    Weights weights(300);
    for (auto& weight : weights) weight = 1 + random() % 1'000;
    auto const round = round_of(weights);
    ASSERT_GT(round.period() * weights.size(), 65'536U) << "is to be a long one";
    std::vector<std::uint64_t> last(weights.size(), 0);
    auto position = round.behind(0);
    double worst = 0;
    for (std::uint64_t turn = 1; turn < 2 * round.period(); ++turn) {
        auto const index = round.at(position);
        if (last[index] > 0) {
            auto const usual =
                static_cast<double>(round.period()) / static_cast<double>(weights[index]);
            worst = std::max(worst, static_cast<double>(turn - last[index]) / usual);
        }
        last[index] = turn;
        position = round.behind(position);
    }
    EXPECT_LT(worst, 3) << "somebody waited that many times as long as usual";
}

TEST(Turns, OfEachHandleAreItsOwn) {
    auto const round = round_of(Weights{1, 1});
    Turns one;
    Turns other;
    Weights ones(2);
    for (int i = 0; i < 100; ++i) {
        ++ones[round.at(one.next(round, 0))];
        other.next(round, 0);
    }
    EXPECT_EQ(ones, (Weights{50, 50})) << "two used alternately do not see odd and even turns";
}

TEST(Turns, OfEachThreadGoOnWhateverOthersDo) {
    auto const round = round_of({3, 2, 1});
    Turns turns;
    Weights mine(3);
    // Its number is a new one, as those of the others are: they do not share a line.
    std::thread{[&] {
        for (int i = 0; i < 6; ++i) {
            ++mine[round.at(turns.next(round, 0))];
            std::thread{[&] { turns.next(round, 0); }}.join();
            turns.next(round_of({1}), 1);
        }
    }}.join();
    EXPECT_EQ(mine, (Weights{3, 2, 1}));
}

TEST(Turns, BeginAnywhereInEachNewRound) {
    // A list that changes before every choice.
    Weights const weights{5, 3, 1, 1};
    Turns turns;
    Weights counted(4);
    for (int i = 0; i < 50'000; ++i) {
        auto const round = round_of(weights);
        ++counted[round.at(turns.next(round, 0))];
    }
    EXPECT_LT(test::deviation(counted, weights), 4);
    EXPECT_GT(test::deviation(counted, Weights{1, 1, 1, 1}), 10) << "the test is blind";
}

TEST(Turns, OfThreadsThatBeginTogetherAreSpread) {
    auto const round = round_of(Weights(50, 1));
    Turns turns;
    Weights counted(50);
    for (int i = 0; i < 500; ++i) {
        std::thread{[&] { ++counted[round.at(turns.next(round, 0))]; }}.join();
    }
    // Threads that share a line go on where the one before was.
    EXPECT_LT(*std::ranges::max_element(counted), 40U);
}

}  // namespace
}  // namespace rollcall::balance

#include "balance/smooth_round_robin.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "balance/random.hpp"

namespace rollcall::balance {
namespace {

using Weights = std::vector<std::uint32_t>;

/// As the specification words it, over and over.
class Reference {
public:
    explicit Reference(Weights weights) : weights_(weights), current_(weights.size()) {}

    std::size_t next() {
        std::int64_t total = 0;
        std::size_t best = 0;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            current_[i] += weights_[i];
            total += weights_[i];
            if (current_[i] > current_[best]) best = i;
        }
        current_[best] -= total;
        return best;
    }

private:
    Weights weights_;
    std::vector<std::int64_t> current_;
};

void expect_documented_sequence(Weights const& weights, std::size_t steps) {
    SmoothRoundRobin ours{weights, 0};
    Reference reference{weights};
    for (std::size_t i = 0; i < steps; ++i) {
        ASSERT_EQ(ours.next(1), reference.next()) << "step " << i << " of " << weights.size();
    }
}

TEST(SmoothRoundRobin, IsTheDocumentedSequence) {
    expect_documented_sequence({5, 1, 1}, 50);
    expect_documented_sequence({2, 4, 1}, 50);
    expect_documented_sequence({1, 1, 1}, 50);
    expect_documented_sequence({7}, 50);
    Random random{1};
    for (std::size_t size = 1; size < 60; ++size) {
        Weights weights(size);
        for (auto& weight : weights) weight = static_cast<std::uint32_t>(1 + random() % 12);
        expect_documented_sequence(weights, 500);
    }
}

TEST(SmoothRoundRobin, IsTheDocumentedSequenceAlsoWithoutATable) {
    Weights const greatest{2'147'483'647, 2'147'483'646, 1, 2'147'483'647};
    EXPECT_FALSE((SmoothRoundRobin{greatest, 0}.has_table()));
    expect_documented_sequence(greatest, 2000);
    Weights many(500);
    std::iota(many.begin(), many.end(), 1U);
    EXPECT_FALSE((SmoothRoundRobin{many, 0}.has_table()));
    expect_documented_sequence(many, 2000);
}

TEST(SmoothRoundRobin, KeepsATableOnlyWhereItIsShort) {
    EXPECT_TRUE((SmoothRoundRobin{Weights{5, 1, 1}, 0}.has_table()));
    EXPECT_TRUE((SmoothRoundRobin{Weights{2'000'000'000, 1'000'000'000}, 0}.has_table()));
    EXPECT_TRUE((SmoothRoundRobin{Weights(100'000, 2'000'000'000), 0}.has_table()));
    EXPECT_LT((SmoothRoundRobin{Weights{32'767, 1}, 0}.bytes()), 200'000U);
    EXPECT_LT((SmoothRoundRobin{Weights{2'147'483'647, 1}, 0}.bytes()), 4000U);
}

std::vector<std::uint64_t> counts(SmoothRoundRobin& robin, std::size_t size, std::uint64_t thread,
                                  std::uint64_t steps) {
    std::vector<std::uint64_t> counted(size);
    for (std::uint64_t i = 0; i < steps; ++i) ++counted[robin.next(thread)];
    return counted;
}

TEST(SmoothRoundRobin, GivesExactSharesOverEveryPeriodOfAThreadWhereverItBegins) {
    Weights const weights{10, 4, 6, 2};  // In the end 5, 2, 3, 1.
    std::vector<std::uint64_t> const exact{5, 2, 3, 1};
    for (std::uint64_t turn = 0; turn < 30; ++turn) {
        SmoothRoundRobin robin{weights, turn};
        EXPECT_EQ(robin.period(), 11U);
        for (std::uint64_t thread = 0; thread < 16; ++thread) {
            EXPECT_EQ(counts(robin, 4, thread, 11), exact) << turn;
            robin.next(thread);
            EXPECT_EQ(counts(robin, 4, thread, 11), exact) << turn;
        }
    }
}

TEST(SmoothRoundRobin, GivesSharesWithoutATableToo) {
    Weights weights(300);
    std::iota(weights.begin(), weights.end(), 1U);
    for (std::uint64_t turn = 0; turn < 3; ++turn) {
        SmoothRoundRobin robin{weights, turn};
        ASSERT_FALSE(robin.has_table());
        for (std::uint64_t thread = 0; thread < 2; ++thread) {
            // Who begins elsewhere begins between two steps.
            auto const off = turn == 0 && thread == 0 ? 0 : 1;
            auto const counted = counts(robin, weights.size(), thread, robin.period());
            for (std::size_t i = 0; i < weights.size(); ++i) {
                EXPECT_NEAR(static_cast<double>(counted[i]), weights[i], off)
                    << "turn " << turn << ", thread " << thread;
            }
        }
    }
}

TEST(SmoothRoundRobin, ListsThatLiveForOneChoiceEachAreNotBiased) {
    for (Weights const& weights : {Weights{5, 1, 1}, Weights{1, 1, 1}, Weights{3, 5}}) {
        auto const period = std::accumulate(weights.begin(), weights.end(), 0U);
        std::vector<std::uint64_t> counted(weights.size());
        constexpr std::uint64_t lists = 7000;
        for (std::uint64_t turn = 0; turn < lists; ++turn) {
            ++counted[SmoothRoundRobin{weights, turn}.next(turn)];
        }
        for (std::size_t i = 0; i < weights.size(); ++i) {
            EXPECT_NEAR(static_cast<double>(counted[i]),
                        static_cast<double>(lists) * weights[i] / period, 20);
        }
    }
}

TEST(SmoothRoundRobin, BeginsElsewhereForEachThread) {
    SmoothRoundRobin robin{Weights{100, 1, 1, 1, 1}, 0};
    std::map<std::size_t, int> first;
    for (std::uint64_t thread = 0; thread < 16; ++thread) ++first[robin.next(thread)];
    EXPECT_EQ(first.size(), 2U) << "one of 26 steps is another's";
    SmoothRoundRobin equal{Weights(8, 3), 0};
    first.clear();
    for (std::uint64_t thread = 0; thread < 16; ++thread) ++first[equal.next(thread)];
    EXPECT_EQ(first.size(), 8U);
}

TEST(SmoothRoundRobin, PassesOverWhoIsNotAllowed) {
    for (Weights const& weights :
         {Weights{5, 1, 2}, Weights{2'000'000'001, 500'000'000, 1'000'000'000}}) {
        SmoothRoundRobin robin{weights, 0};
        std::vector<int> counted(3);
        for (int i = 0; i < 300; ++i)
            ++counted[robin.next(1, [](std::size_t at) { return at > 0; })];
        EXPECT_EQ(counted, (std::vector{0, 100, 200}));
    }
}

TEST(SmoothRoundRobin, ThreadsWithOneLaneTakeEveryStepOnce) {
    SmoothRoundRobin robin{Weights{3, 2, 1}, 0};
    std::vector<std::vector<std::uint64_t>> counted(4);
    std::vector<std::thread> threads;
    for (auto& own : counted) {
        threads.emplace_back([&] { own = counts(robin, 3, 5, 60'000); });
    }
    for (auto& thread : threads) thread.join();
    std::vector<std::uint64_t> sum(3);
    for (auto const& own : counted) {
        for (std::size_t i = 0; i < 3; ++i) sum[i] += own[i];
    }
    EXPECT_EQ(sum, (std::vector<std::uint64_t>{120'000, 80'000, 40'000}));
}

}  // namespace
}  // namespace rollcall::balance

#include "cosky/even_draw.hpp"

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "registry/live/table_draft.hpp"
#include "support/vectors.hpp"
#include "unit/balance/chi_square.hpp"

namespace rollcall::cosky {
namespace {

using Counts = std::vector<std::uint64_t>;

std::string id_of(std::size_t number) {
    auto digits = std::to_string(number);
    return "id-" + digits.insert(0, 6 - digits.size(), '0');
}

live::InstanceTablePtr table_of(std::vector<int> const& weights,
                                std::vector<std::size_t> const& suspects = {}) {
    live::TableDraft draft{*live::InstanceTable::empty_table()};
    for (std::size_t i = 0; i < weights.size(); ++i) {
        ServiceInstance instance;
        instance.instance_id = id_of(i);
        instance.weight = weights[i];
        InstanceState state;
        for (auto const suspect : suspects) state.suspect = state.suspect || suspect == i;
        draft.put(live::make_record(instance, state));
    }
    return std::move(draft).finish();
}

/// Empty when nobody is drawn.
template <class Draw>
Counts counts(live::InstanceTable const& table, std::size_t size, int draws, Draw const& draw) {
    std::map<ServiceInstance const*, std::size_t> numbers;
    for (std::size_t i = 0; i < size; ++i) numbers[table.find(id_of(i))->instance.get()] = i;
    Counts counted(size);
    balance::Random random{42};
    for (int i = 0; i < draws; ++i) {
        auto const* const drawn = draw(table, random);
        if (drawn == nullptr) return {};
        ++counted[numbers.at(drawn)];
    }
    return counted;
}

Counts even_counts(live::InstanceTable const& table, std::size_t size, int draws) {
    return counts(table, size, draws, draw_evenly);
}

template <class Draw>
void expect_shares(std::string_view section, Draw const& draw) {
    for (auto const& row : rollcall::test::rows("cosky/choosers", section)) {
        TRACE_ROW(row);
        std::vector<int> weights;
        for (auto const& weight : row.at("weights").as_array()) {
            weights.push_back(static_cast<int>(weight.as_int64()));
        }
        Counts expected;
        for (auto const& share : row.at("shares").as_array()) {
            expected.push_back(share.to_number<std::uint64_t>());
        }
        auto const counted = counts(*table_of(weights), weights.size(), 20'000, draw);
        ASSERT_EQ(counted.size(), expected.size());
        if (expected.empty()) continue;
        // The seed is fixed; four standard deviations are exceeded by one seed in 30,000.
        EXPECT_LT(balance::test::deviation(counted, expected), 4);
    }
}

TEST(Choosers, RandomIsAsDocumented) { expect_shares("random", draw_evenly); }

TEST(Choosers, ByWeightIsAsDocumented) {
    auto const by_weight = [](live::InstanceTable const& table, balance::Random& random) {
        return table.choose(random);
    };
    expect_shares("weighted", by_weight);
}

TEST(EvenDraw, IsEvenInTablesOfAllSizes) {
    for (std::size_t const size : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 1000U, 1100U, 3000U}) {
        auto const counted =
            even_counts(*table_of(std::vector<int>(size, 1)), size, static_cast<int>(100 * size));
        EXPECT_LT(balance::test::deviation(counted, Counts(size, 1)), 4) << size;
    }
}

TEST(EvenDraw, IsEvenAlsoWhereFewOfManyMayBeDrawn) {
    std::vector<int> weights(2000, 0);
    Counts expected(2000);
    for (std::size_t const i : {3U, 700U, 701U, 1999U}) {
        weights[i] = static_cast<int>(i);
        expected[i] = 1;
    }
    auto const counted = even_counts(*table_of(weights), 2000, 2000);
    EXPECT_LT(balance::test::deviation(counted, expected), 4);
}

TEST(EvenDraw, PrefersThoseWhoAreNotSuspect) {
    auto const counted = even_counts(*table_of({1, 2, 3, 0}, {0}), 4, 10'000);
    EXPECT_LT(balance::test::deviation(counted, Counts{0, 1, 1, 0}), 4);
    auto const suspects = even_counts(*table_of({1, 2, 0}, {0, 1}), 3, 10'000);
    EXPECT_LT(balance::test::deviation(suspects, Counts{1, 1, 0}), 4);
}

}  // namespace
}  // namespace rollcall::cosky

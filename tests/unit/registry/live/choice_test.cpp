// Which instances are chosen, and how often.

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "registry/live/instance_table.hpp"
#include "registry/live/table_draft.hpp"
#include "unit/balance/chi_square.hpp"
#include "unit/registry/live/records.hpp"

namespace rollcall::live {
namespace {

using test::id_of;
using Weights = std::vector<std::uint64_t>;

/// How often each number is chosen.
Weights choices(InstanceTable const& table, std::size_t size, int draws) {
    std::map<ServiceInstance const*, std::size_t> numbers;
    for (std::size_t number = 0; number < size; ++number) {
        if (auto const* found = table.find(id_of(number))) numbers[found->instance.get()] = number;
    }
    Weights counted(size);
    balance::Random random{42};
    for (int i = 0; i < draws; ++i) ++counted[numbers.at(table.choose(random))];
    return counted;
}

InstanceTablePtr table_with(Weights const& weights) {
    TableDraft draft{*InstanceTable::empty_table()};
    for (std::size_t number = 0; number < weights.size(); ++number) {
        draft.put(test::record(number, static_cast<int>(weights[number])));
    }
    return std::move(draft).finish();
}

TEST(Choice, IsInProportionToTheWeights) {
    Weights const few{1, 2, 3, 0, 40, 100};
    EXPECT_LT(balance::test::deviation(choices(*table_with(few), few.size(), 100'000), few), 4);

    balance::Random random{3};
    Weights many(1000);
    for (auto& weight : many) weight = random() % 20;
    auto const counted = choices(*table_with(many), many.size(), 400'000);
    EXPECT_LT(balance::test::deviation(counted, many), 4);
    EXPECT_GT(balance::test::deviation(counted, Weights(1000, 1)), 10) << "the test is blind";
}

TEST(Choice, FollowsEveryChange) {
    balance::Random random{4};
    Weights weights(500, 1);
    auto table = table_with(weights);
    for (int i = 0; i < 300; ++i) {
        auto const number = random() % weights.size();
        weights[number] = random() % 10;
        table = weights[number] == 9
                    ? table->erase(id_of(number))
                    : table->put(test::record(number, static_cast<int>(weights[number])));
        if (weights[number] == 9) weights[number] = 0;
    }
    EXPECT_LT(balance::test::deviation(choices(*table, weights.size(), 200'000), weights), 4);
}

TEST(Choice, GivesNothingToInstancesThatTakeNoTraffic) {
    auto disabled = test::instance(1, 100);
    disabled.enabled = false;
    auto unhealthy = test::instance(2, 100);
    unhealthy.healthy = false;
    auto const table = InstanceTable::empty_table()
                           ->put(test::record(0, 3))
                           ->put(make_record(disabled))
                           ->put(make_record(unhealthy))
                           ->put(test::record(3, 0))
                           ->put(test::record(4, -7))
                           ->put(test::record(5, 1));
    Weights const expected{3, 0, 0, 0, 0, 1};
    EXPECT_LT(balance::test::deviation(choices(*table, 6, 20'000), expected), 4);

    balance::Random random{1};
    EXPECT_EQ(table->erase(id_of(0))->erase(id_of(5))->choose(random), nullptr);
}

TEST(Choice, TakesTheGreatestWeights) {
    TableDraft draft{*InstanceTable::empty_table()};
    for (std::size_t number = 0; number < 1000; ++number) {
        draft.put(test::record(number, number % 2 == 0 ? 2'147'483'647 : 0));
    }
    Weights expected(1000);
    for (std::size_t number = 0; number < 1000; number += 2) expected[number] = 1;
    auto const table = std::move(draft).finish();
    EXPECT_LT(balance::test::deviation(choices(*table, 1000, 200'000), expected), 4);
}

void suspect(InstanceTable const& table, std::size_t number, bool suspect) {
    table.find(id_of(number))->vitals->suspect = suspect;
}

TEST(Choice, PrefersThoseWhoAreNotSuspect) {
    Weights weights(300, 1);
    auto table = table_with(weights);
    TableDraft draft{*table};
    for (std::size_t number = 0; number < 200; ++number) {
        suspect(*table, number, true);
        EXPECT_TRUE(draft.reconsider(id_of(number)));
        weights[number] = 0;
    }
    EXPECT_FALSE(draft.reconsider("orders"));
    table = std::move(draft).finish();
    EXPECT_LT(balance::test::deviation(choices(*table, 300, 50'000), weights), 4);
}

TEST(Choice, FallsBackOnSuspectsInProportionToTheirWeights) {
    Weights weights(300);
    std::iota(weights.begin(), weights.end(), 0);
    auto table = table_with(weights);
    for (std::size_t number = 0; number < 300; ++number) suspect(*table, number, true);
    TableDraft draft{*table};
    draft.reconsider_all();
    table = std::move(draft).finish();
    EXPECT_LT(balance::test::deviation(choices(*table, 300, 100'000), weights), 4);

    // The first that comes back takes it all, also one among suspects of its own chunk.
    suspect(*table, 170, false);
    TableDraft again{*table};
    again.reconsider(id_of(170));
    table = std::move(again).finish();
    EXPECT_EQ(choices(*table, 300, 1000)[170], 1000U);

    // One who takes no traffic does not keep suspects from it.
    table = table->put(make_record(test::instance(170, 0), table->find(id_of(170))->vitals));
    weights[170] = 0;
    EXPECT_LT(balance::test::deviation(choices(*table, 300, 100'000), weights), 4);
}

}  // namespace
}  // namespace rollcall::live

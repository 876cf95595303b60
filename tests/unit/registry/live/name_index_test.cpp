#include "registry/live/name_index.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "registry/live/name_hash.hpp"
#include "unit/registry/live/records.hpp"

namespace rollcall::live {
namespace {

using test::table_of;

std::shared_ptr<SnapshotCell> cell_of(std::string name, std::size_t size) {
    auto cell = std::make_shared<SnapshotCell>(std::move(name));
    cell->publish(table_of(size));
    return cell;
}

TEST(NameIndex, FindsWhatWasAdded) {
    NameIndex index;
    EXPECT_EQ(index.instances("orders"), std::nullopt);
    auto const orders = cell_of("orders", 3);
    index.add(orders);
    index.add(cell_of("", 1));
    // Twice: the first time a thread has to be told of the change.
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(index.instances("orders")->size(), 3U);
        EXPECT_EQ(index.instances("")->size(), 1U);
        EXPECT_EQ(index.instances("order"), std::nullopt);
        EXPECT_EQ(index.find("orders"), orders);
        EXPECT_EQ(index.find("payments"), nullptr);
    }
}

TEST(NameIndex, ShowsWhatIsPublished) {
    NameIndex index;
    auto const orders = cell_of("orders", 0);
    index.add(orders);
    EXPECT_TRUE(index.instances("orders")->empty());
    orders->publish(table_of(5));
    EXPECT_EQ(index.instances("orders")->size(), 5U);
}

TEST(NameIndex, TakesManyAtOnce) {
    NameIndex index;
    std::vector<NameIndex::CellPtr> cells;
    for (std::size_t i = 0; i < 500; ++i) cells.push_back(cell_of("s" + std::to_string(i), i % 7));
    index.add(cells);
    for (std::size_t i = 0; i < 500; ++i) {
        EXPECT_EQ(index.instances("s" + std::to_string(i))->size(), i % 7);
    }
}

TEST(NameIndex, ReplacesAndRemoves) {
    NameIndex index;
    auto first = cell_of("orders", 1);
    std::weak_ptr<SnapshotCell> const watched{first};
    index.add(first);
    auto const second = cell_of("orders", 2);
    index.add(second);
    EXPECT_EQ(index.instances("orders")->size(), 2U);
    EXPECT_FALSE(index.remove(*first)) << "its place is another's";
    first.reset();
    EXPECT_TRUE(watched.expired());
    EXPECT_TRUE(index.remove(*second));
    EXPECT_FALSE(index.remove(*second));
    EXPECT_EQ(index.instances("orders"), std::nullopt);
}

TEST(NameIndex, LeavesNothingBehindOnTheThreadThatEndsIt) {
    std::weak_ptr<Vitals> watched;
    {
        NameIndex index;
        auto const made = test::record(1);
        watched = made->vitals;
        auto const cell = cell_of("orders", 0);
        cell->publish(InstanceTable::empty_table()->put(made));
        index.add(cell);
        EXPECT_EQ(index.instances("orders")->size(), 1U);
    }
    EXPECT_TRUE(watched.expired());
}

TEST(NameHash, DependsOnEveryByteAndOnTheSeed) {
    NameHash const hash{1};
    NameHash const other{2};
    for (std::size_t size = 0; size < 70; ++size) {
        std::string name(size, 'a');
        auto const before = hash(name);
        EXPECT_EQ(hash(name), before);
        EXPECT_NE(other(name), before);
        EXPECT_NE(hash(name + 'a'), before);
        for (auto& byte : name) {
            byte = 'b';
            EXPECT_NE(hash(name), before) << size;
            byte = 'a';
        }
    }
}

TEST(NameHash, SpreadsSimilarNames) {
    NameHash const hash{1};
    std::set<std::size_t> high;
    std::set<std::size_t> low;
    for (int i = 0; i < 4096; ++i) {
        auto const hashed = hash("service-" + std::to_string(i));
        high.insert(hashed >> 52);
        low.insert(hashed & 0xfff);
    }
    // At random 2,589 of 4,096 are expected, and 2,450 are five standard deviations fewer.
    EXPECT_GT(high.size(), 2450U);
    EXPECT_GT(low.size(), 2450U);
}

}  // namespace
}  // namespace rollcall::live

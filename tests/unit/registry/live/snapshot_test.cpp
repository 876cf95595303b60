#include "rollcall/snapshot.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "registry/live/name_index.hpp"
#include "registry/live/snapshot_cell.hpp"
#include "unit/registry/live/failing_allocations.hpp"
#include "unit/registry/live/records.hpp"

#include "rollcall/choice.hpp"

namespace rollcall::live {
namespace {

using namespace std::chrono_literals;
using test::id_of;
using test::record;
using test::table_of;

static_assert(sizeof(Snapshot) == sizeof(void*));
static_assert(std::forward_iterator<Snapshot::const_iterator>);
static_assert(std::is_same_v<decltype(*Snapshot{}.begin()), ServiceInstance const&>);
static_assert(std::is_nothrow_copy_constructible_v<Snapshot>);
static_assert(std::is_nothrow_move_constructible_v<Snapshot>);

Snapshot snapshot_of(InstanceTablePtr table) {
    SnapshotCell cell{"orders"};
    cell.publish(std::move(table));
    return cell.snapshot();
}

TEST(Snapshot, OfNoServiceIsEmpty) {
    Snapshot const none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_EQ(none.find("orders-1"), nullptr);
    EXPECT_EQ(none.state("orders-1"), std::nullopt);
    EXPECT_EQ(none.revision(), 0U);
    auto copy = none;
    copy = none;
    EXPECT_TRUE(copy.empty());
    EXPECT_FALSE(choose(none));
}

TEST(Snapshot, OfAnEmptyServiceIsEmpty) {
    SnapshotCell const cell{"orders"};
    EXPECT_EQ(cell.name(), "orders");
    auto const snapshot = cell.snapshot();
    EXPECT_TRUE(snapshot.empty());
    EXPECT_EQ(snapshot.begin(), snapshot.end());
    EXPECT_EQ(snapshot.find("orders-1"), nullptr);
    EXPECT_FALSE(choose(snapshot));
}

TEST(Snapshot, ShowsInstancesInTheOrderOfTheirIds) {
    for (std::size_t const size : {1U, 127U, 128U, 129U, 1000U}) {
        auto const snapshot = snapshot_of(table_of(size));
        EXPECT_EQ(snapshot.size(), size);
        EXPECT_EQ(static_cast<std::size_t>(std::distance(snapshot.begin(), snapshot.end())), size);
        std::size_t number = 0;
        for (auto const& instance : snapshot) EXPECT_EQ(instance.instance_id, id_of(number++));
    }
}

TEST(Snapshot, IteratesMoreThanOnce) {
    auto const snapshot = snapshot_of(table_of(300));
    auto const first = snapshot.begin();
    auto second = first;
    EXPECT_EQ(second++, first);
    EXPECT_NE(second, first);
    EXPECT_EQ(second->instance_id, id_of(1));
    EXPECT_EQ(std::next(first), second);
    EXPECT_EQ(std::count_if(first, snapshot.end(), [](auto const&) { return true; }), 300);
}

TEST(Snapshot, FindsById) {
    auto const snapshot = snapshot_of(table_of(500));
    EXPECT_EQ(snapshot.find(id_of(321))->instance_id, id_of(321));
    for (auto const* const absent : {"", "orders", "orders-0", "orders-000321x", "zebra"}) {
        EXPECT_EQ(snapshot.find(absent), nullptr) << absent;
    }
}

TEST(Snapshot, ShowsTheStateAsOfNow) {
    auto const vitals = std::make_shared<Vitals>();
    auto const snapshot =
        snapshot_of(InstanceTable::empty_table()->put(make_record(test::instance(1), vitals)));
    auto const before = snapshot.state(id_of(1));
    ASSERT_TRUE(before);
    EXPECT_EQ(before->registered_at, std::nullopt);
    EXPECT_EQ(before->last_heartbeat_at, std::nullopt);
    EXPECT_EQ(before->lease_until, std::nullopt);
    EXPECT_FALSE(before->suspect);

    std::chrono::system_clock::time_point const registered{1'760'000'000'123ms};
    std::chrono::steady_clock::time_point const lease{90s};
    vitals->set({registered, registered + 5s, lease, true});
    auto const now = snapshot.state(id_of(1));
    EXPECT_EQ(now->registered_at, registered);
    EXPECT_EQ(now->last_heartbeat_at, registered + 5s);
    EXPECT_EQ(now->lease_until, lease);
    EXPECT_TRUE(now->suspect);
    EXPECT_EQ(snapshot.state(id_of(2)), std::nullopt);
}

TEST(Snapshot, SharesTheStateWithLaterVersions) {
    auto const vitals = std::make_shared<Vitals>();
    SnapshotCell cell{"orders"};
    auto table = InstanceTable::empty_table()->put(make_record(test::instance(1), vitals));
    cell.publish(table);
    auto const before = cell.snapshot();
    cell.publish(table->put(make_record(test::instance(1, 5), vitals)));
    auto const now = cell.snapshot();
    EXPECT_EQ(before.find(id_of(1))->weight, 1);
    EXPECT_EQ(now.find(id_of(1))->weight, 5);
    vitals->lease_until.set(std::chrono::steady_clock::time_point{7s});
    EXPECT_EQ(before.state(id_of(1))->lease_until, now.state(id_of(1))->lease_until);
}

TEST(Snapshot, StaysAsItWas) {
    SnapshotCell cell{"orders"};
    auto table = table_of(300);
    cell.publish(table);
    auto const before = cell.snapshot();
    auto const* const instance = before.find(id_of(7));
    table = table->erase(id_of(7));
    cell.publish(table);
    auto const now = cell.snapshot();
    EXPECT_EQ(before.find(id_of(7)), instance);
    EXPECT_EQ(before.size(), 300U);
    EXPECT_EQ(now.size(), 299U);
    EXPECT_EQ(now.find(id_of(7)), nullptr);
    EXPECT_GT(now.revision(), before.revision());
}

TEST(Snapshot, OutlivesItsCellAndItsThread) {
    std::optional<Snapshot> snapshot;
    std::weak_ptr<Vitals> watched;
    std::thread{[&] {
        auto cell = std::make_unique<SnapshotCell>("orders");
        auto const made = record(1);
        watched = made->vitals;
        cell->publish(InstanceTable::empty_table()->put(made));
        snapshot = cell->snapshot();
    }}.join();
    EXPECT_EQ(snapshot->find(id_of(1))->instance_id, id_of(1));
    auto copy = *snapshot;
    auto moved = std::move(*snapshot);
    snapshot.reset();
    copy = moved;
    moved = Snapshot{};
    EXPECT_EQ(copy.size(), 1U);
    EXPECT_FALSE(watched.expired());
    copy = {};
    EXPECT_TRUE(watched.expired());
}

TEST(Snapshot, IsTakenAndReadWithoutAllocating) {
    NameIndex index;
    auto const cell = std::make_shared<SnapshotCell>("orders");
    cell->publish(table_of(300));
    index.add(cell);
    auto const id = id_of(200);
    // The first time a thread makes room for what it sees.
    (void)cell->snapshot();
    (void)index.instances("orders");

    test::fail_allocation_after(0);
    auto const snapshot = cell->snapshot();
    auto copy = snapshot;
    EXPECT_EQ(copy.find(id)->instance_id.size(), id.size());
    EXPECT_EQ(std::distance(copy.begin(), copy.end()), 300);
    EXPECT_TRUE(copy.state(id).has_value());
    EXPECT_TRUE(static_cast<bool>(choose(copy)));
    EXPECT_EQ(index.instances("orders")->size(), 300U);
    SnapshotAccess::table(copy)->find(id)->vitals->set({.suspect = true});
    copy = {};
    test::stop_failing();
}

TEST(Choice, KeepsItsInstance) {
    std::optional<Choice> choice;
    std::weak_ptr<Vitals> watched;
    std::thread{[&] {
        auto const made = record(1);
        watched = made->vitals;
        choice = choose(snapshot_of(InstanceTable::empty_table()->put(made)));
    }}.join();
    ASSERT_TRUE(*choice);
    EXPECT_EQ((*choice)->instance_id, id_of(1));
    EXPECT_EQ((**choice).port, 8080);
    choice.reset();
    EXPECT_TRUE(watched.expired());
}

TEST(Choice, DiffersFromThreadToThread) {
    auto const snapshot = snapshot_of(table_of(1000));
    auto const choose_ten = [&] {
        std::vector<ServiceInstance const*> chosen;
        for (int i = 0; i < 10; ++i) chosen.push_back(&*choose(snapshot));
        return chosen;
    };
    auto const here = choose_ten();
    std::vector<ServiceInstance const*> there;
    std::thread{[&] { there = choose_ten(); }}.join();
    EXPECT_NE(here, there);
}

}  // namespace
}  // namespace rollcall::live

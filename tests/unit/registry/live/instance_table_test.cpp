#include "registry/live/instance_table.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/live/table_draft.hpp"
#include "unit/registry/live/records.hpp"

namespace rollcall::live {
namespace {

using test::all;
using test::chunks;
using test::id_of;
using test::record;
using test::table_of;

/// What a table is to hold.
using Reference = std::map<std::string, RecordPtr, std::less<>>;

void expect_equal(InstanceTable const& table, Reference const& reference) {
    ASSERT_EQ(table.size, reference.size());
    auto const found = all(table);
    ASSERT_EQ(found.size(), reference.size());
    auto expected = reference.begin();
    for (auto const* instance : found) ASSERT_EQ(instance, (expected++)->second->instance.get());
    for (auto const& [id, record] : reference) ASSERT_EQ(table.find(id), record.get()) << id;
    for (auto const& group : table.groups().children()) {
        ASSERT_GT(group->width(), 0U);
        ASSERT_LE(group->width(), InstanceTable::Group::most);
        ASSERT_TRUE(group->sealed());
    }
    for (auto const* chunk : chunks(table)) {
        ASSERT_GT(chunk->size(), 0U);
        ASSERT_LE(chunk->size(), Chunk::most);
        ASSERT_TRUE(chunk->sealed());
    }
}

/// The chunks of `now` that are not in `before`, and the groups.
struct Copied {
    std::size_t chunks;
    std::size_t groups;
    friend bool operator==(Copied const&, Copied const&) = default;
};

template <class Pointers>
std::size_t missing(Pointers const& before, Pointers const& now) {
    std::set<void const*> old;
    for (auto const& one : before) old.insert(&*one);
    return static_cast<std::size_t>(std::count_if(
        now.begin(), now.end(), [&](auto const& one) { return !old.contains(&*one); }));
}

Copied copied(InstanceTable const& before, InstanceTable const& now) {
    return {missing(chunks(before), chunks(now)),
            missing(before.groups().children(), now.groups().children())};
}

TEST(InstanceTable, IsEmptyAtFirst) {
    auto const table = InstanceTable::empty_table();
    EXPECT_EQ(table->size, 0U);
    EXPECT_EQ(table->revision, 0U);
    EXPECT_EQ(table->find("orders-1"), nullptr);
    balance::Random random{1};
    EXPECT_EQ(table->choose(random), nullptr);
    EXPECT_EQ(table->erase("orders-1"), table);
}

TEST(InstanceTable, EqualsAMapAfterEveryShortSequence) {
    // Puts and erasures of four ids, all sequences of five.
    constexpr int operations = 8;
    constexpr int sequences = operations * operations * operations * operations * operations;
    for (int code = 0; code < sequences; ++code) {
        auto table = InstanceTable::empty_table();
        Reference reference;
        for (int left = code, step = 0; step < 5; ++step, left /= operations) {
            auto const number = static_cast<std::size_t>(left % operations / 2);
            if (left % 2 == 0) {
                auto const made = record(number);
                table = table->put(made);
                reference.insert_or_assign(id_of(number), made);
            } else {
                table = table->erase(id_of(number));
                reference.erase(id_of(number));
            }
        }
        ASSERT_NO_FATAL_FAILURE(expect_equal(*table, reference)) << code;
    }
}

/// Random changes of up to `ids` ids; `keep` of 100 changes are puts.
void play(std::uint64_t seed, std::size_t ids, std::uint64_t puts_of_100, int steps) {
    balance::Random random{seed};
    auto table = InstanceTable::empty_table();
    Reference reference;
    for (int step = 0; step < steps; ++step) {
        auto const before = table;
        auto const number = random() % ids;
        if (random() % 100 < puts_of_100) {
            auto const made = record(number);
            table = table->put(made);
            reference.insert_or_assign(id_of(number), made);
        } else {
            bool const there = reference.erase(id_of(number)) > 0;
            table = table->erase(id_of(number));
            ASSERT_EQ(table != before, there);
        }
        if (table != before) {
            ASSERT_GT(table->revision, before->revision);
        }
        if (step % 64 == 0) {
            ASSERT_NO_FATAL_FAILURE(expect_equal(*table, reference)) << step;
        }
        ASSERT_EQ(table->find(id_of(number)) != nullptr, reference.contains(id_of(number)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(*table, reference));
}

TEST(InstanceTable, EqualsAMapAfterRandomChanges) {
    play(1, 10, 50, 2000);
    play(2, 300, 50, 4000);
    play(3, 1000, 80, 4000);
    play(4, 1000, 55, 4000);
}

TEST(InstanceTable, EqualsAMapWhileItShrinks) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        balance::Random random{seed};
        auto table = table_of(1000);
        Reference reference;
        for (auto const* instance : all(*table)) {
            reference.emplace(instance->instance_id, RecordPtr{table->find(instance->instance_id)});
        }
        while (!reference.empty()) {
            auto const at = reference.lower_bound(id_of(random() % 1000));
            auto const victim = at == reference.end() ? reference.begin() : at;
            table = table->erase(victim->first);
            reference.erase(victim);
            if (reference.size() % 50 == 0) {
                ASSERT_NO_FATAL_FAILURE(expect_equal(*table, reference));
            }
        }
        EXPECT_TRUE(table->groups().children().empty());
    }
}

TEST(InstanceTable, DoesNotCrumbleWhenMostIsErased) {
    auto table = table_of(10'000);
    for (std::size_t number = 0; number < 10'000; ++number) {
        if (number % 100 != 0) table = table->erase(id_of(number));
    }
    EXPECT_EQ(table->size, 100U);
    EXPECT_LE(chunks(*table).size(), 30U);
    EXPECT_LE(table->groups().width(), 8U);
}

TEST(InstanceTable, IsDenseAfterAFullRead) {
    auto const table = table_of(10'000);
    EXPECT_EQ(chunks(*table).size(), (10'000 + Chunk::most - 1) / Chunk::most);
    EXPECT_EQ(table->groups().width(), 10U);
}

TEST(InstanceTable, SharesAllButOneChunk) {
    auto const table = table_of(10'000);
    Copied const one{1, 1};
    EXPECT_EQ(copied(*table, *table->put(record(4711, 3))), one);
    EXPECT_EQ(copied(*table, *table->erase(id_of(4711))), one);
    EXPECT_EQ(copied(*table, *table->put(record(10'000))), one);
}

TEST(InstanceTable, MakesTwoOfAFullChunk) {
    auto const table = table_of(10'000);
    auto between = test::instance(4711);
    between.instance_id += "-b";
    EXPECT_EQ(copied(*table, *table->put(make_record(between))), (Copied{2, 2}))
        << "its group was full, too";
}

TEST(InstanceTable, MakesOneNewChunkAtMostForEveryErasure) {
    auto table = table_of(2000);
    for (std::size_t number = 0; number < 2000; ++number) {
        auto const before = table;
        table = table->erase(id_of(number * 37 % 2000));
        // Also where two small ones are joined.
        auto const [chunks, groups] = copied(*before, *table);
        ASSERT_LE(chunks, 1U);
        ASSERT_LE(groups, 1U);
    }
    EXPECT_EQ(table->size, 0U);
}

TEST(InstanceTable, KeepsOldVersionsAsTheyWere) {
    auto const table = table_of(1000);
    auto const before = all(*table);
    auto now = table;
    for (std::size_t number = 0; number < 1000; number += 3) now = now->erase(id_of(number));
    for (std::size_t number = 1; number < 1000; number += 3) now = now->put(record(number, 9));
    EXPECT_EQ(all(*table), before);
    EXPECT_EQ(table->find(id_of(1))->instance->weight, 1);
    EXPECT_EQ(now->find(id_of(1))->instance->weight, 9);
}

TEST(InstanceTable, DropsWhatNoVersionShows) {
    auto const vitals = std::make_shared<Vitals>();
    auto table = table_of(500)->put(make_record(test::instance(250), vitals));
    EXPECT_EQ(vitals.use_count(), 2);
    auto const old = table;
    table = table->put(record(250));
    EXPECT_EQ(vitals.use_count(), 2) << "the old version shows it";
    table = table->put(record(251));
    EXPECT_EQ(old.use_count(), 1) << "versions do not keep each other";
}

TEST(TableDraft, MakesManyChangesAtOnce) {
    auto const table = table_of(10'000);
    TableDraft draft{*table};
    for (std::size_t number = 160; number < 256; ++number) draft.put(record(number, 5));
    EXPECT_TRUE(draft.erase(id_of(300)));
    EXPECT_FALSE(draft.erase(id_of(300)));
    EXPECT_EQ(draft.find(id_of(300)), nullptr);
    EXPECT_EQ(draft.find(id_of(200))->instance->weight, 5);
    EXPECT_EQ(draft.size(), 9999U);
    auto const now = std::move(draft).finish();
    EXPECT_EQ(now->size, 9999U);
    EXPECT_EQ(copied(*table, *now), (Copied{4, 1}));
}

TEST(TableDraft, EqualsAMapAfterRandomBatches) {
    balance::Random random{11};
    auto table = InstanceTable::empty_table();
    Reference reference;
    for (int batch = 0; batch < 60; ++batch) {
        TableDraft draft{*table};
        // Every other batch takes more out than it brings.
        for (auto changes = random() % 300; changes > 0; --changes) {
            auto const number = random() % 2000;
            if (random() % 3 != (batch % 2 == 0 ? 0U : 1U)) {
                auto const made = record(number);
                draft.put(made);
                reference.insert_or_assign(id_of(number), made);
            } else {
                ASSERT_EQ(draft.erase(id_of(number)), reference.erase(id_of(number)) > 0);
            }
        }
        table = std::move(draft).finish();
        ASSERT_NO_FATAL_FAILURE(expect_equal(*table, reference)) << batch;
    }
}

}  // namespace
}  // namespace rollcall::live

#include "registry/live/cell.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "unit/registry/live/failing_allocations.hpp"

namespace rollcall::live {
namespace {

using Value = std::shared_ptr<int const>;

Value value(int number) { return std::make_shared<int const>(number); }

template <class Function>
void on_another_thread(Function function) {
    std::thread{function}.join();
}

TEST(Cell, GivesWhatWasPublishedLast) {
    Cell<int> cell{value(1)};
    EXPECT_EQ(*cell.get(), 1);
    EXPECT_EQ(*cell.get(), 1);
    cell.publish(value(2));
    EXPECT_EQ(*cell.get(), 2);
    on_another_thread([&] { EXPECT_EQ(*cell.get(), 2); });
}

TEST(Cell, PeeksOnlyAtWhatTheThreadKnows) {
    Cell<int> cell{value(1)};
    EXPECT_EQ(cell.peek(), nullptr);
    auto const ref = cell.get();
    EXPECT_EQ(cell.peek(), &*ref);
    cell.publish(value(2));
    EXPECT_EQ(cell.peek(), nullptr);
}

TEST(Cell, KeepsAValueForAsLongAsAReferenceIsHeld) {
    auto first = value(1);
    std::weak_ptr<int const> const watched{first};
    std::optional<Cell<int>> cell{first};
    auto ref = std::optional{cell->get()};
    auto copy = ref;
    first.reset();
    cell->publish(value(2));
    EXPECT_EQ(*cell->get(), 2);
    EXPECT_EQ(**ref, 1);
    ref.reset();
    cell.reset();
    EXPECT_EQ(**copy, 1);
    EXPECT_FALSE(watched.expired());
    copy.reset();
    EXPECT_TRUE(watched.expired());
}

TEST(Cell, DropsAnOldValueAtTheNextRead) {
    auto first = value(1);
    std::weak_ptr<int const> const watched{first};
    Cell<int> cell{std::move(first)};
    (void)cell.get();
    cell.publish(value(2));
    EXPECT_FALSE(watched.expired());
    (void)cell.get();
    EXPECT_TRUE(watched.expired());
}

/// A reference made by one thread, copied and dropped by others in every order.
TEST(Cell, CountsReferencesOfManyThreads) {
    for (int order = 0; order < 16; ++order) {
        auto const shown = value(1);
        Cell<int> cell{shown};
        std::optional<Ref<int>> made;
        std::optional<Ref<int>> copied;
        // The maker ends, or reads on, before or after the others drop what it made.
        std::thread maker{[&] {
            made = cell.get();
            copied = *made;
            if ((order & 1) != 0) cell.publish(value(2));
            if ((order & 2) != 0) (void)cell.get();
            if ((order & 4) != 0) made.reset();
        }};
        maker.join();
        if ((order & 8) != 0) on_another_thread([&] { copied = *copied; });
        auto again = *copied;
        copied.reset();
        cell.publish(value(3));
        EXPECT_EQ(*again, 1);
        EXPECT_GT(shown.use_count(), 1);
        on_another_thread([&] { made.reset(); });
        again = cell.get();
        EXPECT_EQ(shown.use_count(), 1) << order;
    }
}

TEST(Cell, DropsOnTheMakersThreadWhatOthersCounted) {
    auto const shown = value(1);
    Cell<int> cell{shown};
    std::vector<Ref<int>> foreign;
    auto mine = std::optional{cell.get()};
    on_another_thread([&] {
        for (int i = 0; i < 5; ++i) foreign.push_back(*mine);
    });
    foreign.clear();  // More than this thread has made.
    EXPECT_EQ(**mine, 1);
    cell.publish(value(2));
    (void)cell.get();
    EXPECT_EQ(shown.use_count(), 2) << "still held";
    mine.reset();
    EXPECT_EQ(shown.use_count(), 1);
}

TEST(Cell, IsLetGoWhenAThreadEnds) {
    auto const shown = value(1);
    Cell<int> cell{shown};
    EXPECT_EQ(shown.use_count(), 2);
    on_another_thread([&] {
        (void)cell.get();
        EXPECT_EQ(shown.use_count(), 3);
    });
    EXPECT_EQ(shown.use_count(), 2);
}

TEST(Cell, IsLetGoByTheThreadThatEndsIt) {
    auto const shown = value(1);
    std::optional<Cell<int>> cell{shown};
    (void)cell->get();
    cell.reset();
    EXPECT_EQ(shown.use_count(), 1);
}

TEST(Cell, IsLetGoByOtherThreadsWhenTheyReadSomethingNew) {
    auto const shown = value(1);
    Cell<int> other{value(2)};
    std::optional<Cell<int>> cell{shown};
    (void)cell->get();
    on_another_thread([&] { cell.reset(); });
    EXPECT_EQ(shown.use_count(), 2) << "this thread knows it yet";
    (void)other.get();
    EXPECT_EQ(shown.use_count(), 1);
    EXPECT_EQ(*other.get(), 2) << "others stay known";
}

TEST(Cell, IsNotTakenForTheOneThatHadItsSlot) {
    std::optional<Cell<int>> cell{value(0)};
    for (int i = 1; i < 100; ++i) {
        EXPECT_EQ(*cell->get(), i - 1);
        // Ended elsewhere, so that this thread has an entry left.
        on_another_thread([&] { cell.emplace(value(i)); });
    }
}

TEST(Slot, GivesNumbersAgainAndNeverTwiceAtOnce) {
    std::uint32_t greatest = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<Slot>> slots;
        std::set<std::uint32_t> numbers;
        for (int i = 0; i < 100; ++i) {
            slots.push_back(std::make_unique<Slot>());
            EXPECT_TRUE(numbers.insert(slots.back()->number()).second);
        }
        if (round > 0) {
            EXPECT_EQ(*numbers.rbegin(), greatest);
        }
        greatest = *numbers.rbegin();
        for (int i = 0; i < 100; i += 2) slots[static_cast<std::size_t>(i)].reset();
    }
}

/// Reads from the destructor of a thread-local object.
struct LastReader {
    ~LastReader() {
        if (cell == nullptr) return;
        auto const ref = cell->get();
        auto copy = ref;
        *seen = *ref;
        *kept = std::move(copy);
    }
    Cell<int> const* cell = nullptr;
    std::atomic<int>* seen = nullptr;
    std::optional<Ref<int>>* kept = nullptr;
};

LastReader& last_reader() {
    static thread_local LastReader reader;
    return reader;
}

TEST(Cell, IsReadWhileAThreadEnds) {
    for (bool const early : {false, true}) {
        auto const shown = value(7);
        Cell<int> cell{shown};
        std::atomic<int> seen = 0;
        std::optional<Ref<int>> kept;
        on_another_thread([&] {
            // Destroyed in the reverse order: after the thread's table if it is made before.
            if (early) (void)last_reader();
            (void)cell.get();
            auto& reader = last_reader();
            reader.cell = &cell;
            reader.seen = &seen;
            reader.kept = &kept;
        });
        EXPECT_EQ(seen, 7);
        EXPECT_EQ(**kept, 7);
        EXPECT_EQ(shown.use_count(), 3);
        kept.reset();
        EXPECT_EQ(shown.use_count(), 2);
    }
}

/// Whose end reads another cell.
struct Nosy {
    ~Nosy() { *seen = *other->get(); }
    Cell<int> const* other;
    int* seen;
};

TEST(Cell, MayBeReadByAValueThatEnds) {
    std::vector<std::unique_ptr<Cell<int>>> others;
    others.reserve(100);
    for (int i = 0; i < 100; ++i) others.push_back(std::make_unique<Cell<int>>(value(i)));
    int seen = 0;
    Cell<Nosy> cell{std::shared_ptr<Nosy const>{new Nosy{others.back().get(), &seen}}};
    on_another_thread([&] {
        (void)cell.get();
        cell.publish(std::shared_ptr<Nosy const>{new Nosy{others.back().get(), &seen}});
        // Ends the old one, which makes this thread's table longer meanwhile.
        auto const now = cell.get();
        EXPECT_EQ(seen, 99);
        EXPECT_EQ(now->other, others.back().get());
    });
}

TEST(Cell, LeaksNothingWhenAnAllocationFails) {
    auto const shown = value(1);
    Cell<int> cell{shown};
    int failures = 0;
    on_another_thread([&] {
        for (int spared = 0;; ++spared) {
            test::fail_allocation_after(spared);
            try {
                EXPECT_EQ(*cell.get(), 1);
            } catch (std::bad_alloc const&) {
                ++failures;
                EXPECT_EQ(shown.use_count(), 2);
                continue;
            }
            test::stop_failing();
            break;
        }
        EXPECT_EQ(*cell.get(), 1);
        EXPECT_EQ(shown.use_count(), 3);
    });
    EXPECT_GE(failures, 2) << "the holder, and the thread's table";
    EXPECT_EQ(shown.use_count(), 2);
}

}  // namespace
}  // namespace rollcall::live

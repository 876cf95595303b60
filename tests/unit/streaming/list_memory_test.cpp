#include "streaming/list_memory.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace rollcall::streaming {
namespace {

/// Of a list that is told apart by a number.
struct Thing {
    int number;
    std::uint64_t turn;
    std::size_t size;
    std::size_t bytes() const noexcept { return size; }
};

class ThingsOfLists {
public:
    explicit ThingsOfLists(MemoryLimits limits) : memory_(limits) {}

    /// Whether it had to be made.
    bool makes(std::string const& service, int number, std::size_t size = 1) {
        auto const before = made_.load();
        auto const found = memory_.with(
            service, [&](Thing const& thing) { return thing.number == number; },
            [&](auto const&, std::uint64_t turn) {
                ++made_;
                return std::make_shared<Thing>(Thing{number, turn, size});
            },
            [](Thing const& thing) { return thing.number; });
        EXPECT_EQ(found, number);
        return made_ != before;
    }

    ListMemory<Thing>& memory() { return memory_; }
    int made() const { return made_; }

private:
    ListMemory<Thing> memory_;
    std::atomic<int> made_ = 0;
};

TEST(ListMemory, MakesWhatItDoesNotKnow) {
    ThingsOfLists things{{}};
    EXPECT_TRUE(things.makes("a", 1));
    EXPECT_FALSE(things.makes("a", 1));
    EXPECT_TRUE(things.makes("b", 1));
    EXPECT_TRUE(things.makes("a", 2));
    EXPECT_FALSE(things.makes("a", 1));
    EXPECT_EQ(things.memory().services(), 2U);
    EXPECT_EQ(things.memory().bytes(), 3U);
}

TEST(ListMemory, ForgetsTheListThatWasNotUsedForLongest) {
    ThingsOfLists things{{.lists = 2}};
    things.makes("a", 1);
    things.makes("a", 2);
    things.makes("a", 1);
    EXPECT_TRUE(things.makes("a", 3));
    EXPECT_FALSE(things.makes("a", 1));
    EXPECT_TRUE(things.makes("a", 2));
    EXPECT_EQ(things.memory().bytes(), 2U);
}

TEST(ListMemory, ForgetsTheServiceThatWasNotUsedForLongest) {
    ThingsOfLists things{{.services = 3}};
    for (std::string const service : {"a", "b", "c", "a"}) things.makes(service, 1);
    EXPECT_TRUE(things.makes("d", 1));
    EXPECT_FALSE(things.makes("a", 1));
    EXPECT_EQ(things.memory().services(), 3U);
    EXPECT_TRUE(things.makes("b", 1));
    EXPECT_EQ(things.memory().services(), 3U);
    EXPECT_EQ(things.memory().bytes(), 3U);
}

TEST(ListMemory, StaysWithinItsBytes) {
    ThingsOfLists things{{.bytes = 100}};
    things.makes("a", 1, 40);
    things.makes("b", 1, 40);
    things.makes("b", 2, 40);
    EXPECT_EQ(things.memory().services(), 1U);
    EXPECT_EQ(things.memory().bytes(), 80U);
    things.makes("b", 3, 90);
    EXPECT_EQ(things.memory().bytes(), 90U);
    EXPECT_FALSE(things.makes("b", 3));
    // One that is too great by itself is kept all the same: it is in use.
    things.makes("c", 1, 1000);
    EXPECT_EQ(things.memory().bytes(), 1000U);
    EXPECT_FALSE(things.makes("c", 1));
    EXPECT_EQ(things.memory().services(), 1U);
}

TEST(ListMemory, IsUsedByManyThreads) {
    ThingsOfLists things{{.services = 3, .lists = 2, .bytes = 50}};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 2000; ++i) {
                things.makes(std::to_string((i + thread) % 5), i % 3, 10);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(things.memory().services(), 3U);
    EXPECT_LE(things.memory().bytes(), 50U);
    EXPECT_GT(things.made(), 5);
}

TEST(ListMemory, ManyThreadsMakeAListOnce) {
    ThingsOfLists things{{}};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 7; ++i) things.makes("a", i);
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(things.made(), 7);
}

}  // namespace
}  // namespace rollcall::streaming

#include "cosky/counts_due.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::cosky {
namespace {

TEST(CountsDue, HasEachServiceOnceUntilItIsTaken) {
    CountsDue due;
    EXPECT_TRUE(due.empty());
    due.add("b");
    due.add("a");
    due.add("b");
    auto const taken = due.take();
    EXPECT_THAT(taken.services(), testing::ElementsAre("a", "b"));
    EXPECT_FALSE(taken.all());
    EXPECT_TRUE(due.empty());
}

TEST(CountsDue, AllStandsForEachOfThem) {
    CountsDue due;
    due.add("a");
    due.add_all();
    due.add("b");
    EXPECT_TRUE(due.all());
    EXPECT_THAT(due.services(), testing::IsEmpty());
    EXPECT_FALSE(due.empty());
}

TEST(CountsDue, TooManyAreAll) {
    CountsDue due;
    for (std::size_t i = 0; i < CountsDue::most_services; ++i) due.add(std::to_string(i));
    EXPECT_FALSE(due.all());
    due.add("one more");
    EXPECT_TRUE(due.all());
    EXPECT_THAT(due.services(), testing::IsEmpty());
}

}  // namespace
}  // namespace rollcall::cosky

#include "chaos/connection_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "chaos/held_up.hpp"

namespace rollcall::chaos {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ConnectionWatchTest : public testing::Test {
protected:
    static Time at(std::chrono::milliseconds time) { return Time{1h} + time; }
    double back() const { return watch.back_max().count(); }

    ConnectionWatch watch;
};

TEST_F(ConnectionWatchTest, WhoLostAConnectionIsMissingUntilItHasAsManyAgain) {
    watch.opened(7, at(0s));
    watch.opened(7, at(0s));
    EXPECT_THAT(watch.missing(), IsEmpty()) << "the first time is no return";
    EXPECT_DOUBLE_EQ(back(), 0.0);
    watch.closed(7, at(1s));
    watch.closed(7, at(1s));
    watch.opened(7, at(1'200ms));
    EXPECT_THAT(watch.missing(), ElementsAre(7));
    watch.opened(7, at(1'500ms));
    EXPECT_THAT(watch.missing(), IsEmpty());
    EXPECT_DOUBLE_EQ(back(), 0.5);
}

TEST_F(ConnectionWatchTest, NobodyIsLateWhileNobodyCanConnect) {
    watch.opened(7, at(0s));
    watch.closed(7, at(1s));
    watch.way_was_broken(at(9s));
    watch.look(at(9'100ms));
    EXPECT_DOUBLE_EQ(back(), 0.1);
    watch.opened(7, at(9'300ms));
    EXPECT_DOUBLE_EQ(back(), 0.3);
}

TEST_F(ConnectionWatchTest, WhoNeverComesBackIsLateAllTheSame) {
    watch.opened(7, at(0s));
    watch.closed(7, at(1s));
    watch.look(at(6s));
    EXPECT_DOUBLE_EQ(back(), 5.0);
    watch.ended(7);
    watch.look(at(60s));
    EXPECT_THAT(watch.missing(), IsEmpty());
    EXPECT_DOUBLE_EQ(back(), 5.0) << "its process is gone";
}

TEST_F(ConnectionWatchTest, KnowsTheSlowestThatNoticedInItsTime) {
    watch.noticed(at(0s), at(300ms), 0ns);
    watch.noticed(at(0s), at(800ms), 50ms);
    watch.noticed(at(0s), at(1'300ms), 51ms);
    EXPECT_DOUBLE_EQ(watch.noticed_max().count(), 0.8);
    EXPECT_EQ(watch.noticed(), 3U);
    EXPECT_EQ(watch.held_up(), 1U) << "it had to wait for a processor";
    watch.noticed(at(0s), at(2s), 100ms);
    EXPECT_DOUBLE_EQ(watch.noticed_max().count(), 1.4) << "that excuses no more than it took";
}

TEST(LongestWait, IsThatOfTheThreadThatWaitedMost) {
    EXPECT_EQ(longest_wait({{1, 5ms}, {2, 7ms}}, {{1, 9ms}, {2, 8ms}, {3, 3ms}}), 4ms);
    EXPECT_FALSE(waiting_times(::getpid()).empty());
}

}  // namespace
}  // namespace rollcall::chaos

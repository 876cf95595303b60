#include "registry/lanes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>
#include <string>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

class LanesTest : public testing::Test {
protected:
    /// Enters and leaves, and notes its name or, without a pass, that in brackets.
    static Task<void> pass_through(Lanes<std::string>& lanes, std::string id, std::string name,
                                   Deadline deadline, std::string& order) {
        auto const pass = co_await lanes.enter(id, deadline);
        order += pass ? name : "(" + name + ")";
    }
    void start(std::string name, Deadline deadline = after(1h)) {
        asio::co_spawn(io, pass_through(lanes, id, std::move(name), deadline, order),
                       asio::detached);
        io.poll();
    }

    std::string const id = "n/s";
    asio::io_context io;
    Lanes<std::string> lanes;
    std::string order;
};

TEST_F(LanesTest, ArePassedInTheOrderOfComing) {
    {
        auto const first = lanes.try_enter(id);
        ASSERT_TRUE(first);
        for (auto const* name : {"a", "b", "c"}) start(name);
        EXPECT_EQ(order, "");
        EXPECT_FALSE(lanes.try_enter(id));
        EXPECT_TRUE(lanes.try_enter("other"));
    }
    EXPECT_FALSE(lanes.try_enter(id)) << "it is handed over before anybody else can take it";
    io.run();
    EXPECT_EQ(order, "abc");
    EXPECT_TRUE(lanes.try_enter(id));
}

TEST_F(LanesTest, WhoWaitsTooLongDoesNotHoldUpTheOthers) {
    {
        auto const first = lanes.try_enter(id);
        start("late", after(-1s));
        start("next");
        io.restart();
        io.poll();
        EXPECT_EQ(order, "(late)");
    }
    io.restart();
    io.run();
    EXPECT_EQ(order, "(late)next");
}

TEST_F(LanesTest, AWaitThatIsAbandonedLeavesNothingBehind) {
    auto first = lanes.try_enter(id);
    {
        asio::io_context other;
        asio::co_spawn(other, pass_through(lanes, id, "gone", after(1h), order), asio::detached);
        other.poll();
    }
    first.reset();
    EXPECT_TRUE(lanes.try_enter(id));
    EXPECT_EQ(order, "");
}

}  // namespace
}  // namespace rollcall

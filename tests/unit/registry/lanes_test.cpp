#include "registry/lanes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

class LanesTest : public testing::Test {
protected:
    /// Enters and leaves, and notes its name or, without a pass, that in brackets.
    static Task<void> pass_through(Lanes<std::string>& lanes, std::string id, std::string name,
                                   Deadline deadline, LaneUse use, std::string& order) {
        auto const pass = co_await lanes.enter(id, deadline, use);
        order += pass ? name : "(" + name + ")";
    }
    void start(std::string name, Deadline deadline = after(1h), LaneUse use = {}) {
        asio::co_spawn(io, pass_through(lanes, id, std::move(name), deadline, use, order),
                       asio::detached);
        io.poll();
    }
    /// Stays inside until `going` has passed.
    static Task<void> stay(Lanes<std::string>& lanes, std::string id, LaneUse use, int& inside,
                           asio::steady_timer& going) {
        auto const pass = co_await lanes.enter(id, after(1h), use);
        ++inside;
        co_await going.async_wait(asio::as_tuple(use_task));
        --inside;
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
        asio::co_spawn(other, pass_through(lanes, id, "gone", after(1h), LaneUse{}, order),
                       asio::detached);
        other.poll();
    }
    first.reset();
    EXPECT_TRUE(lanes.try_enter(id));
    EXPECT_EQ(order, "");
}

TEST_F(LanesTest, WhatMakesNoDifferenceToEachOtherPassesTogether) {
    ServiceInstance one;
    one.instance_id = "i";
    auto const equal = one;
    auto other = one;
    other.weight = 2;
    asio::steady_timer going{io, 1h};
    int inside = 0;
    auto first = lanes.try_enter(id);
    auto const wait = [&](LaneUse use) {
        asio::co_spawn(io, stay(lanes, id, use, inside, going), asio::detached);
        io.poll();
    };
    wait(LaneUse::registration(one));
    wait(LaneUse::registration(equal));
    wait(LaneUse::registration(other));
    wait(LaneUse::registration(one));
    wait(LaneUse::renewal(one));
    wait(LaneUse::removal());
    wait(LaneUse::removal());
    wait(LaneUse{});
    wait(LaneUse{});
    EXPECT_EQ(inside, 0);
    first.reset();
    std::vector<int> groups;
    for (int left = 9; left > 0; left -= groups.back()) {
        io.restart();
        io.poll();
        groups.push_back(inside);
        ASSERT_GT(inside, 0);
        going.cancel();
    }
    EXPECT_EQ(groups, (std::vector{2, 1, 1, 1, 2, 1, 1}));
    io.restart();
    io.poll();
    EXPECT_EQ(inside, 0);
    EXPECT_TRUE(lanes.try_enter(id));
}

}  // namespace
}  // namespace rollcall

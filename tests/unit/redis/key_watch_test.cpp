#include "redis/key_watch.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "silent_handler.hpp"

namespace rollcall::redis {
namespace {

using Names = std::vector<std::string>;
using Handlers = std::vector<PushHandler*>;

class KeyWatchTest : public testing::Test {
protected:
    void be_tracked(std::string const& key) {
        watch.add(key, a);
        EXPECT_EQ(watch.due(10), Names{key});
        EXPECT_EQ(told(key), Handlers{});
        EXPECT_FALSE(watch.any_due());
    }

    /// Whom to tell of a change.
    Handlers told(std::string const& key) { return watch.tracked(key).to_tell_change; }

    test::SilentHandler a;
    test::SilentHandler b;
    KeyWatch watch;
};

TEST_F(KeyWatchTest, AChangeIsToldWhenTheKeyIsTrackedAgain) {
    be_tracked("k");
    watch.invalidated("k");
    EXPECT_TRUE(watch.any_due());
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(told("k"), Handlers{&a});
    EXPECT_FALSE(watch.any_due());
}

TEST_F(KeyWatchTest, AChangeDuringTheReadingIsReadAgainFirst) {
    be_tracked("k");
    watch.invalidated("k");
    EXPECT_EQ(watch.due(10), Names{"k"});
    watch.invalidated("k");
    EXPECT_FALSE(watch.any_due()) << "one reading is out";
    EXPECT_EQ(told("k"), Handlers{}) << "that reading may have been before the change";
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(told("k"), Handlers{&a});
}

TEST_F(KeyWatchTest, EverythingMayHaveChangedAtOnce) {
    watch.add("k", a);
    watch.add("l", b);
    watch.add("l", a);
    watch.add("l", a);
    EXPECT_EQ(watch.due(1), Names{"k"}) << "as many as asked for";
    EXPECT_EQ(watch.due(10), Names{"l"});
    EXPECT_EQ(told("k"), Handlers{});
    EXPECT_EQ(told("l"), Handlers{});
    watch.all_invalidated();
    watch.invalidated("unknown");
    EXPECT_EQ(watch.due(10), (Names{"k", "l"}));
    EXPECT_EQ(told("k"), Handlers{&a});
    EXPECT_EQ(told("l"), (Handlers{&b, &a}));
}

TEST_F(KeyWatchTest, WhatWasRefusedMayHaveChangedMeanwhile) {
    watch.add("k", a);
    watch.due(10);
    watch.refused("k");
    EXPECT_FALSE(watch.any_due());
    watch.retry();
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(told("k"), Handlers{&a});
}

TEST_F(KeyWatchTest, ANewConnectionTracksNothing) {
    be_tracked("k");
    watch.invalidated("k");
    watch.reset();
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(told("k"), Handlers{}) << "the confirmations of it say read afresh";
}

TEST_F(KeyWatchTest, TheFirstTrackingOfEachConnectionIsTold) {
    for (int connection = 0; connection < 2; ++connection) {
        watch.add("k", a);
        watch.due(10);
        watch.invalidated("k");
        EXPECT_FALSE(watch.tracked("k").first) << "it changed meanwhile and is not tracked";
        watch.due(10);
        auto const news = watch.tracked("k");
        EXPECT_TRUE(news.first);
        EXPECT_EQ(news.handlers, Handlers{&a});
        EXPECT_EQ(news.to_tell_change, Handlers{&a});
        watch.invalidated("k");
        watch.due(10);
        EXPECT_FALSE(watch.tracked("k").first);
        watch.reset();
    }
}

TEST_F(KeyWatchTest, WhoIsGoneIsNotTold) {
    be_tracked("k");
    watch.add("k", b);
    watch.invalidated("k");
    watch.due(10);
    watch.remove(a);
    EXPECT_EQ(told("k"), Handlers{&b});
    watch.remove(b);
    EXPECT_TRUE(watch.empty());
    EXPECT_EQ(told("k"), Handlers{});
    watch.refused("k");
}

}  // namespace
}  // namespace rollcall::redis

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
        EXPECT_EQ(watch.tracked(key), Handlers{});
        EXPECT_FALSE(watch.any_due());
    }

    test::SilentHandler a;
    test::SilentHandler b;
    KeyWatch watch;
};

TEST_F(KeyWatchTest, AChangeIsToldWhenTheKeyIsTrackedAgain) {
    be_tracked("k");
    watch.invalidated("k");
    EXPECT_TRUE(watch.any_due());
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(watch.tracked("k"), Handlers{&a});
    EXPECT_FALSE(watch.any_due());
}

TEST_F(KeyWatchTest, AChangeDuringTheReadingIsReadAgainFirst) {
    be_tracked("k");
    watch.invalidated("k");
    EXPECT_EQ(watch.due(10), Names{"k"});
    watch.invalidated("k");
    EXPECT_FALSE(watch.any_due()) << "one reading is out";
    EXPECT_EQ(watch.tracked("k"), Handlers{}) << "that reading may have been before the change";
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(watch.tracked("k"), Handlers{&a});
}

TEST_F(KeyWatchTest, EverythingMayHaveChangedAtOnce) {
    watch.add("k", a);
    watch.add("l", b);
    watch.add("l", a);
    watch.add("l", a);
    EXPECT_EQ(watch.due(1), Names{"k"}) << "as many as asked for";
    EXPECT_EQ(watch.due(10), Names{"l"});
    EXPECT_EQ(watch.tracked("k"), Handlers{});
    EXPECT_EQ(watch.tracked("l"), Handlers{});
    watch.all_invalidated();
    watch.invalidated("unknown");
    EXPECT_EQ(watch.due(10), (Names{"k", "l"}));
    EXPECT_EQ(watch.tracked("k"), Handlers{&a});
    EXPECT_EQ(watch.tracked("l"), (Handlers{&b, &a}));
}

TEST_F(KeyWatchTest, WhatWasRefusedMayHaveChangedMeanwhile) {
    watch.add("k", a);
    watch.due(10);
    watch.refused("k");
    EXPECT_FALSE(watch.any_due());
    watch.retry();
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(watch.tracked("k"), Handlers{&a});
}

TEST_F(KeyWatchTest, ANewConnectionTracksNothing) {
    be_tracked("k");
    watch.invalidated("k");
    watch.reset();
    EXPECT_EQ(watch.due(10), Names{"k"});
    EXPECT_EQ(watch.tracked("k"), Handlers{}) << "the confirmations of it say read afresh";
}

TEST_F(KeyWatchTest, WhoIsGoneIsNotTold) {
    be_tracked("k");
    watch.add("k", b);
    watch.invalidated("k");
    watch.due(10);
    watch.remove(a);
    EXPECT_EQ(watch.tracked("k"), Handlers{&b});
    watch.remove(b);
    EXPECT_TRUE(watch.empty());
    EXPECT_EQ(watch.tracked("k"), Handlers{});
    watch.refused("k");
}

}  // namespace
}  // namespace rollcall::redis

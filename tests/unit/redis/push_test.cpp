#include "redis/push.hpp"

#include <gtest/gtest.h>
#include <string>

#include "replies.hpp"

namespace rollcall::redis {
namespace {

using Kind = Push::Kind;

class PushTest : public testing::Test {
protected:
    Push read(std::string_view bytes) {
        response_.clear();
        test::read_replies(bytes, response_);
        return Push::of(response_[0]);
    }

private:
    Response response_;
};

TEST_F(PushTest, MessagesByNameAndByPattern) {
    auto push = read(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n");
    EXPECT_EQ(push.kind, Kind::message);
    EXPECT_FALSE(push.pattern);
    EXPECT_EQ(push.topic, "c");
    EXPECT_EQ(push.channel, "c");
    EXPECT_EQ(push.payload, "hi");

    push = read(">4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\ncc\r\n$0\r\n\r\n");
    EXPECT_EQ(push.kind, Kind::message);
    EXPECT_TRUE(push.pattern);
    EXPECT_EQ(push.topic, "c*");
    EXPECT_EQ(push.channel, "cc");
    EXPECT_EQ(push.payload, "") << "an empty payload is one";
}

TEST_F(PushTest, ConfirmationsAndTheirEnd) {
    struct Case {
        std::string_view word;
        Kind kind;
        bool pattern;
    };
    for (auto const& [word, kind, pattern] :
         {Case{"subscribe", Kind::confirmed, false}, Case{"psubscribe", Kind::confirmed, true},
          Case{"unsubscribe", Kind::withdrawn, false},
          Case{"punsubscribe", Kind::withdrawn, true}}) {
        auto const push = read(">3\r\n+" + std::string{word} + "\r\n$1\r\nc\r\n:1\r\n");
        EXPECT_EQ(push.kind, kind) << word;
        EXPECT_EQ(push.pattern, pattern) << word;
        EXPECT_EQ(push.topic, "c") << word;
    }
    EXPECT_EQ(read(">3\r\n$11\r\nunsubscribe\r\n_\r\n:0\r\n").topic, "");
}

TEST_F(PushTest, InvalidationsOfKeysAndOfAll) {
    auto push = read(">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(push.kind, Kind::invalidated);
    ASSERT_EQ(push.value.size(), 2u);
    EXPECT_EQ(push.value[1].text(), "b");
    push = read(">2\r\n$10\r\ninvalidate\r\n_\r\n");
    EXPECT_EQ(push.kind, Kind::invalidated);
    EXPECT_TRUE(push.value.is_null());
}

TEST_F(PushTest, AnythingElseIsUnknown) {
    EXPECT_EQ(read("-NOPERM no\r\n").kind, Kind::error);
    EXPECT_EQ(read("-NOPERM no\r\n").value.text(), "NOPERM no");
    for (auto const* bytes :
         {"+PONG\r\n", ":1\r\n", ">1\r\n+what\r\n", ">2\r\n*1\r\n+message\r\n+c\r\n", "*0\r\n",
          "_\r\n", ">3\r\n+smessage\r\n+c\r\n+x\r\n"}) {
        EXPECT_EQ(read(bytes).kind, Kind::unknown) << bytes;
    }
    EXPECT_EQ(Push::of(Value{}).kind, Kind::unknown);
}

TEST_F(PushTest, WhatIsNoTextIsNoPayload) {
    for (auto const* bytes :
         {">1\r\n+message\r\n", ">2\r\n+message\r\n+c\r\n", ">3\r\n+message\r\n+c\r\n*1\r\n+x\r\n",
          ">3\r\n+message\r\n+c\r\n_\r\n", ">4\r\n+pmessage\r\n+c\r\n_\r\n+x\r\n"}) {
        auto const push = read(bytes);
        EXPECT_EQ(push.kind, Kind::message) << bytes;
        EXPECT_FALSE(push.payload) << bytes;
    }
}

class PushInboxTest : public testing::Test {
protected:
    void put(std::string_view bytes) {
        while (!bytes.empty()) {
            boost::redis::resp3::parser parser;
            boost::system::error_code error;
            auto adapter = boost_redis_adapt(inbox);
            ASSERT_TRUE(boost::redis::resp3::parse(parser, bytes, adapter, error) && !error);
            bytes.remove_prefix(parser.get_consumed());
        }
    }

    PushInbox inbox{8};
};

TEST_F(PushInboxTest, LeavesOutWhatIsTooLong) {
    put(">3\r\n+message\r\n+c\r\n$8\r\n12345678\r\n>3\r\n+message\r\n+c\r\n$9\r\n123456789\r\n");
    ASSERT_EQ(inbox.size(), 2u);
    EXPECT_EQ(Push::of(inbox[0]).payload, "12345678");
    EXPECT_FALSE(Push::of(inbox[1]).payload);
    EXPECT_EQ(Push::of(inbox[1]).channel, "c");
    inbox.clear();
    EXPECT_EQ(inbox.size(), 0u);
}

TEST_F(PushInboxTest, CountsWhatMakesDoubtful) {
    auto const count = [&](std::string_view bytes) {
        auto const before = inbox.disturbances();
        put(bytes);
        return inbox.disturbances() - before;
    };
    inbox = PushInbox{100};
    EXPECT_EQ(count(">3\r\n+message\r\n+c\r\n+x\r\n"), 0u);
    EXPECT_EQ(count(">3\r\n+subscribe\r\n+c\r\n:1\r\n"), 1u);
    EXPECT_EQ(count(">3\r\n+psubscribe\r\n+c\r\n:1\r\n"), 1u);
    EXPECT_EQ(count(">3\r\n+unsubscribe\r\n+c\r\n:1\r\n"), 0u);
    EXPECT_EQ(count(">2\r\n+invalidate\r\n_\r\n"), 1u);
    EXPECT_EQ(count(">3\r\n+message\r\n+subscribe\r\n+subscribe\r\n"), 0u);
    inbox.disturb();
    EXPECT_EQ(inbox.disturbances(), 4u);
}

TEST_F(PushInboxTest, ForgetsWhatABrokenConnectionBegan) {
    inbox.begin();
    inbox.add({boost::redis::resp3::type::push, 3, 0, {}});
    inbox.add({boost::redis::resp3::type::blob_string, 1, 1, "message"});
    put(">3\r\n+message\r\n+c\r\n+x\r\n");
    ASSERT_EQ(inbox.size(), 1u);
    EXPECT_EQ(Push::of(inbox[0]).payload, "x");
}

TEST_F(PushInboxTest, MayBeClearedWhileOneComesIn) {
    put(">3\r\n+message\r\n+c\r\n+x\r\n");
    inbox.begin();
    inbox.add({boost::redis::resp3::type::push, 3, 0, {}});
    inbox.add({boost::redis::resp3::type::blob_string, 1, 1, "message"});
    inbox.clear();
    inbox.add({boost::redis::resp3::type::blob_string, 1, 1, "c"});
    inbox.add({boost::redis::resp3::type::blob_string, 1, 1, "y"});
    inbox.end();
    ASSERT_EQ(inbox.size(), 1u);
    EXPECT_EQ(Push::of(inbox[0]).payload, "y");
}

}  // namespace
}  // namespace rollcall::redis

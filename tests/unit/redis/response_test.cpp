#include "redis/response.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "redis/session.hpp"
#include "replies.hpp"

namespace rollcall::redis {
namespace {

TEST(Value, ScalarsHaveTextAndNumber) {
    Response response;
    test::read_replies(
        "+OK\r\n:-42\r\n$3\r\n17x\r\n$2\r\n17\r\n#t\r\n,1.5\r\n=7\r\ntxt:abc\r\n_\r\n"
        "$0\r\n\r\n:9223372036854775807\r\n$19\r\n9223372036854775808\r\n",
        response);
    ASSERT_EQ(response.size(), 11u);
    EXPECT_EQ(response[0].text(), "OK");
    EXPECT_EQ(response[0].integer(7), 7);
    EXPECT_EQ(response[1].integer(), -42);
    EXPECT_EQ(response[1].text(), "-42");
    EXPECT_EQ(response[2].integer(-1), -1);
    EXPECT_EQ(response[3].integer(), 17);
    EXPECT_EQ(response[4].integer(), 1);
    EXPECT_EQ(response[5].text(), "1.5");
    EXPECT_EQ(response[6].text(), "abc");
    EXPECT_TRUE(response[7].is_null());
    EXPECT_EQ(response[7].text(), "");
    EXPECT_FALSE(response[8].is_null());
    EXPECT_EQ(response[8].text(), "");
    EXPECT_EQ(response[9].integer(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(response[10].integer(-1), -1);
    for (std::size_t i = 0; i < response.size(); ++i) {
        EXPECT_FALSE(response[i].is_error());
        EXPECT_FALSE(response[i].is_aggregate());
        EXPECT_EQ(response[i].begin(), response[i].end());
    }
}

TEST(Value, ErrorsAreValues) {
    Response response;
    test::read_replies("-ERR no\r\n!9\r\nERR\r\nlong\r\n", response);
    EXPECT_TRUE(response[0].is_error());
    EXPECT_EQ(response[0].text(), "ERR no");
    EXPECT_EQ(response[0].integer(3), 3);
    EXPECT_TRUE(response[1].is_error());
    EXPECT_EQ(response[1].text(), "ERR\r\nlong");
}

TEST(Value, WalksOverDirectElementsOnly) {
    Response response;
    test::read_replies(
        "*4\r\n$1\r\na\r\n*2\r\n:1\r\n*1\r\n:2\r\n%1\r\n+k\r\n*0\r\n$1\r\nz\r\n+next\r\n",
        response);
    ASSERT_EQ(response.size(), 2u);
    auto const list = response[0];
    ASSERT_EQ(list.size(), 4u);
    std::string texts;
    std::size_t aggregates = 0;
    for (auto const element : list) {
        texts += element.text();
        aggregates += element.is_aggregate() ? 1 : 0;
    }
    EXPECT_EQ(texts, "az");
    EXPECT_EQ(aggregates, 2u);
    EXPECT_EQ(list[1][1][0].integer(), 2);
    EXPECT_EQ(list[2].size(), 2u);
    EXPECT_TRUE(list[2][1].is_aggregate());
    EXPECT_TRUE(list[2][1].empty());
    EXPECT_EQ(list[3].text(), "z");
    EXPECT_TRUE(list[4].is_null());
    EXPECT_TRUE(list[0][0].is_null());
    EXPECT_EQ(response[1].text(), "next");
}

TEST(Value, AnsweringNothingIsNull) {
    Response response;
    EXPECT_EQ(response.size(), 0u);
    EXPECT_TRUE(response[0].is_null());
    EXPECT_FALSE(Value{}.is_error());
    EXPECT_EQ(Value{}.integer(5), 5);
    EXPECT_EQ(Value{}.size(), 0u);
}

TEST(Response, ForgetsAReplyThatNeverEnded) {
    Response response;
    response.begin_reply();
    response.add({boost::redis::resp3::type::array, 2, 0, {}});
    response.add({boost::redis::resp3::type::number, 1, 1, "1"});
    EXPECT_EQ(response.size(), 0u);
    response.clear();
    test::read_replies("+fresh\r\n", response);
    ASSERT_EQ(response.size(), 1u);
    EXPECT_EQ(response[0].text(), "fresh");
}

TEST(Response, ExchangesSomeReplies) {
    Response response;
    test::read_replies("+a\r\n-NOSCRIPT\r\n+c\r\n-NOSCRIPT\r\n", response);
    Response again;
    test::read_replies("*2\r\n+b1\r\n+b2\r\n+d\r\n", again);
    response.replace({1, 3}, std::move(again));
    EXPECT_EQ(response[0].text(), "a");
    EXPECT_EQ(response[1][1].text(), "b2");
    EXPECT_EQ(response[2].text(), "c");
    EXPECT_EQ(response[3].text(), "d");
    response.clear();
    EXPECT_EQ(response.size(), 0u);
}

TEST(Failure, FollowsTheFirstWordOfTheReply) {
    struct {
        std::string_view reply;
        errc code;
    } const table[] = {
        {"NOAUTH Authentication required.", errc::access_denied},
        {"WRONGPASS invalid username-password pair or user is disabled.", errc::access_denied},
        {"NOPERM this user has no permissions to run the 'set' command", errc::access_denied},
        {"ERR The user executing the script can't publish to the channel mentioned in the command "
         "script: 31ea, on @user_script:1.",
         errc::access_denied},
        {"ERR ACL failure in script: User u has no permissions to run the 'get' command",
         errc::access_denied},
        {"LOADING Redis is loading the dataset in memory", errc::unavailable},
        {"MISCONF Redis is configured to save RDB snapshots", errc::unavailable},
        {"READONLY You can't write against a read only replica.", errc::unavailable},
        {"MASTERDOWN Link with MASTER is down", errc::unavailable},
        {"CLUSTERDOWN The cluster is down", errc::unavailable},
        {"TRYAGAIN Multiple keys request during rehashing of slot", errc::unavailable},
        {"BUSY Redis is busy running a script.", errc::unavailable},
        {"NOREPLICAS Not enough good replicas to write.", errc::unavailable},
        {"UNBLOCKED force unblock from blocking operation", errc::unavailable},
        {"ERR max number of clients reached", errc::unavailable},
        {"OOM command not allowed when used memory > 'maxmemory'.", errc::overloaded},
        {"WRONGTYPE Operation against a key holding the wrong kind of value",
         errc::unexpected_reply},
        {"LOADINGx", errc::unexpected_reply},
        {"Invalid heartbeat_time: must be a number", errc::unexpected_reply},
        {"", errc::unexpected_reply},
    };
    for (auto const& [text, code] : table) {
        Response response;
        test::read_replies("-" + std::string{text} + "\r\n", response);
        auto const failure = failure_of(response[0], "heartbeat");
        EXPECT_EQ(failure.code(), code) << text;
        EXPECT_TRUE(failure.detail().starts_with("heartbeat: ")) << failure.detail();
    }
}

TEST(Failure, SaysWhatToDoAndNotWhereInAScriptItHappened) {
    struct {
        std::string text;
        std::string detail;
    } const table[] = {
        {"WRONGTYPE Operation script: 28e6, on @user_script:94.", "q: WRONGTYPE Operation"},
        {"ERR a script: b", "q: ERR a script: b"},
        {"NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
         "<proto> AUTH <user> <pass> option can be used",
         "q: NOAUTH: give a password in the URL"},
        {"ERR DB index is out of range",
         "q: the URL names a database that Redis does not have: ERR DB index is out of range"},
        {"ERR , on @user_script:1 script: x", "q: ERR , on @user_script:1 script: x"},
    };
    for (auto const& [text, detail] : table) {
        Response response;
        test::read_replies("-" + text + "\r\n", response);
        EXPECT_EQ(failure_of(response[0], "q").detail(), detail);
    }
}

}  // namespace
}  // namespace rollcall::redis

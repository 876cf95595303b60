#include "fixture.hpp"

namespace rollcall::test {
namespace {

class Session : public WithRedis {};

TEST_F(Session, AnswersEachCommandInOrder) {
    auto const core = connect_to(server().url());
    redis::Request request;
    request.push("SET", {"k", "v"});
    request.push("GET", {"k"});
    request.push("GET", {"absent"});
    request.push("HSET", {"h", "a", "1", "b", "2"});
    request.push("HGETALL", {"h"});

    auto const response = execute(*core, request).value();

    ASSERT_EQ(response.size(), 5u);
    EXPECT_EQ(response[0].text(), "OK");
    EXPECT_EQ(response[1].text(), "v");
    EXPECT_TRUE(response[2].is_null());
    EXPECT_EQ(response[3].integer(), 2);
    ASSERT_EQ(response[4].size(), 4u);
    EXPECT_EQ(response[4][3].text(), "2");
}

TEST_F(Session, RefusedCommandConcernsNoOther) {
    auto const core = connect_to(server().url());
    auto const before = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    redis::Request request;
    request.push("SET", {"k", "v"});
    request.push("LPUSH", {"k", "x"});
    request.push("GET", {"absent"});
    request.push("NOSUCHCOMMAND");
    request.push("GET", {"k"});

    auto const response = execute(*core, request).value();

    ASSERT_EQ(response.size(), 5u);
    ASSERT_TRUE(response[1].is_error());
    EXPECT_EQ(redis::failure_of(response[1], "k").code(), errc::unexpected_reply);
    EXPECT_TRUE(response[1].text().starts_with("WRONGTYPE"));
    EXPECT_TRUE(response[2].is_null());
    EXPECT_TRUE(response[3].is_error());
    EXPECT_EQ(response[4].text(), "v");
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), before);
}

}  // namespace
}  // namespace rollcall::test

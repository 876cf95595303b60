#include "redis/request.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string_view>

namespace rollcall::redis {
namespace {

using namespace std::string_view_literals;

TEST(Request, WritesCommandsWithBinaryArguments) {
    Request request;
    EXPECT_TRUE(request.empty());
    request.push("PING");
    request.push("SET", {"k", "a\r\n\0b"sv});
    EXPECT_EQ(request.size(), 2u);
    EXPECT_EQ(request.wire().payload(),
              "*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\n\0b\r\n"sv);
    request.clear();
    EXPECT_TRUE(request.empty());
    EXPECT_EQ(request.wire().payload(), "");
}

TEST(Request, RunsAScriptByItsSha1ThenByItsText) {
    Script const script{"s", "return 1", "0123456789012345678901234567890123456789"};
    std::array const keys{"k1"sv, "k2"sv};
    std::array const arguments{"$9\r\n"sv, ""sv};
    Request request;
    request.push("PING");
    request.push_script(script, keys, arguments);
    request.push_script(script, {}, {});
    ASSERT_EQ(request.scripts().size(), 2u);
    EXPECT_EQ(request.scripts()[0].command, 1u);
    EXPECT_EQ(request.scripts()[1].command, 2u);

    Request again;
    for (auto const& call : request.scripts()) again.push_evaluated(request, call);

    Request expected;
    expected.push("EVAL", {"return 1", "2", "k1", "k2", "$9\r\n", ""});
    expected.push("EVAL", {"return 1", "0"});
    EXPECT_EQ(again.wire().payload(), expected.wire().payload());
    EXPECT_TRUE(again.scripts().empty());
}

}  // namespace
}  // namespace rollcall::redis

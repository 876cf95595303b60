#include <algorithm>
#include <atomic>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.hpp"
#include "stranger.hpp"

namespace rollcall::test {
namespace {

class LogIn : public testing::Test {
protected:
    static std::string url_with(RedisServer const& server, std::string const& user_part) {
        return "unix://" + user_part + "@" + server.socket();
    }

    static void expect_refused(redis::ClientCore& core) {
        Result<redis::Response> outcome{redis::Response{}};
        auto const took = time_of([&] { outcome = execute(core, "PING", {}, 30s); });
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), errc::access_denied) << outcome.error().detail();
        EXPECT_LT(took, 5s);
    }

    RedisServer server;
    RedisClient admin{server};
};

TEST_F(LogIn, PasswordWithSpecialCharacters) {
    admin.must({"CONFIG", "SET", "requirepass", "p@s/w#d:%41+ é"});
    auto const core = connect_to(url_with(server, ":p%40s%2Fw%23d%3A%2541%2B%20%C3%A9"));
    EXPECT_EQ(execute(*core, "PING").value()[0].text(), "PONG");
}

TEST_F(LogIn, UserWithPassword) {
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all"});
    auto const core = connect_to(url_with(server, "ann:pw") + "?db=2");
    EXPECT_EQ(execute(*core, "ACL", {"WHOAMI"}).value()[0].text(), "ann");
}

TEST_F(LogIn, PasswordThatIsNotNeededDoesNoHarm) {
    auto const core = connect_to(url_with(server, ":superfluous"));
    EXPECT_TRUE(execute(*core, "PING"));
}

TEST_F(LogIn, RefusalIsToldAtOnceAndShowsNoPassword) {
    admin.must({"CONFIG", "SET", "requirepass", "right"});
    for (auto const& url :
         {url_with(server, ":wr0ng"), url_with(server, "nobody:wr0ng"), server.url()}) {
        std::string log;
        auto const core = connect_to(url, [&](LogLevel, std::string_view text) { log += text; });
        expect_refused(*core);
        expect_refused(*core);  // Also in the pause between two attempts.
        auto const detail = execute(*core, "PING").error().detail();
        EXPECT_TRUE(detail.find("WRONGPASS") != detail.npos || detail.find("NOAUTH") != detail.npos)
            << detail;
        EXPECT_EQ(on_io_thread(*core, [&] { return log; }).find("wr0ng"), std::string::npos);
    }
}

TEST_F(LogIn, WorksOnceThePasswordIsRight) {
    admin.must({"CONFIG", "SET", "requirepass", "old"});
    auto const core = connect_to(url_with(server, ":new"));
    expect_refused(*core);
    admin.must({"CONFIG", "SET", "requirepass", "new"});
    EXPECT_TRUE(eventually([&] { return execute(*core, "PING").has_value(); }));
}

TEST_F(LogIn, DisabledUserIsRefusedAfterAReconnectToo) {
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all"});
    auto const core = connect_to(url_with(server, "ann:pw"));
    execute(*core, "PING").value();
    admin.must({"ACL", "DELUSER", "ann"});
    EXPECT_TRUE(eventually([&] {
        auto const outcome = execute(*core, "PING", {}, 1s);
        return !outcome && outcome.error().code() == errc::access_denied;
    }));
}

TEST_F(LogIn, UnknownDatabaseIsToldAtOnce) {
    auto const core = connect_to(server.url() + "?db=99");
    Result<redis::Response> outcome{redis::Response{}};
    EXPECT_LT(time_of([&] { outcome = execute(*core, "PING", {}, 30s); }), 5s);
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().detail().find("DB index is out of range"), std::string::npos);
}

TEST_F(LogIn, MissingRightsAreNamed) {
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~own:*", "+@all", "-set", "resetchannels"});
    auto const core = connect_to(url_with(server, "ann:pw"));
    redis::Request request;
    request.push("SET", {"own:k", "v"});
    request.push("GET", {"foreign"});
    request.push("PUBLISH", {"channel", "x"});
    request.push("EVAL", {"return redis.call('PUBLISH', 'channel', 'x')", "0"});
    request.push("EVAL", {"return redis.call('GET', 'foreign')", "0"});
    request.push("GET", {"own:k"});
    auto const response = execute(*core, request).value();
    std::string_view const named[] = {"'set' command", "keys", "channels", "channel", "keys"};
    for (std::size_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(response[i].is_error());
        auto const failure = redis::failure_of(response[i], "trying");
        EXPECT_EQ(failure.code(), errc::access_denied) << failure.detail();
        EXPECT_NE(failure.detail().find(named[i]), std::string::npos) << failure.detail();
    }
    EXPECT_TRUE(response[5].is_null());
}

TEST_F(LogIn, UserWhoMayNotPingIsAlive) {
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "-ping"});
    redis::SessionOptions session;
    session.ping_interval = 20ms;
    session.patience = 60ms;
    auto const core = connect_to(url_with(server, "ann:pw"), {}, session);
    auto const id = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    EXPECT_TRUE(eventually([&] { return command_stat(admin, "ping", "rejected_calls") >= 8; }));
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), id);
}

TEST(Stranger, ThatStaysSilentIsToldFromNobody) {
    Stranger const stranger{wait_for_end};
    auto const core = connect_to(stranger.url());
    auto const outcome = execute(*core, "PING", {}, 200ms);
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().detail().find("connected, but no answer to HELLO"), std::string::npos)
        << outcome.error().detail();
}

TEST(Stranger, ThatStaysSilentHoldsUpOneAttemptForASecond) {
    std::atomic<int> met = 0;
    Stranger const stranger{[&met](int peer) {
        ++met;
        wait_for_end(peer);
    }};
    auto const core = connect_to(stranger.url());
    EXPECT_TRUE(eventually([&] { return met >= 1; }));
    // Of five seconds for connecting it would need ten.
    EXPECT_TRUE(eventually([&] { return met >= 3; }, 2 * (1'200ms + 150ms) + 2s));
}

TEST(Stranger, WhoseAnswerComesBitByBitIsNotSilent) {
    Stranger const stranger{[](int peer) {
        char bytes[4'096];
        if (::recv(peer, bytes, sizeof bytes, 0) <= 0) return;
        ::send(peer, "+hello\r\n$0\r\n\r\n", 14, MSG_NOSIGNAL);
        if (::recv(peer, bytes, sizeof bytes, 0) <= 0) return;
        ::send(peer, "$50\r\n", 5, MSG_NOSIGNAL);
        for (int i = 0; i < 50; ++i) {
            ::usleep(20'000);
            ::send(peer, "x", 1, MSG_NOSIGNAL);
        }
        ::send(peer, "\r\n", 2, MSG_NOSIGNAL);
        wait_for_end(peer);
    }};
    redis::SessionOptions session;
    session.ping_interval = 50ms;
    session.patience = 150ms;
    auto const core = connect_to(stranger.url(), {}, session);
    auto const outcome = execute(*core, "GET", {"k"}, 5s, false);
    ASSERT_TRUE(outcome) << outcome.error().detail();
    EXPECT_EQ(outcome.value()[0].text(), std::string(50, 'x'));
}

TEST(Stranger, GetsNoMemoryBeforeTheLogIn) {
    std::atomic<std::size_t> most = 0;
    Stranger const stranger{[&most](int peer) {
        std::string const head = "$536870912\r\n";
        std::string const block(65'536, 'x');
        ::send(peer, head.data(), head.size(), MSG_NOSIGNAL);
        std::size_t taken = 0;
        while (taken < 100'000'000) {
            auto const size = ::send(peer, block.data(), block.size(), MSG_NOSIGNAL);
            if (size <= 0) break;
            taken += static_cast<std::size_t>(size);
        }
        most = std::max<std::size_t>(most, taken);
    }};
    auto const core = connect_to(stranger.url());
    EXPECT_FALSE(execute(*core, "PING", {}, 300ms));
    EXPECT_TRUE(eventually([&] { return most > 0; }));
    // The rest is what the kernel holds of a connection.
    EXPECT_LT(most, 32'000'000u);
}

TEST_F(LogIn, LargeRepliesComeBehindIt) {
    auto const core = connect_to(server.url());
    execute(*core, "SETRANGE", {"k", "4000000", "x"}).value();
    EXPECT_EQ(execute(*core, "GET", {"k"}).value()[0].text().size(), 4'000'001u);
    admin.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_EQ(execute(*core, "GET", {"k"}).value()[0].text().size(), 4'000'001u);
}

}  // namespace
}  // namespace rollcall::test

// What people are told on standard error and in the help, and what they are spared.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fstream>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class MessagesTest : public CliTest {
protected:
    void add(std::string const& service, std::string const& id) {
        must({"register", "--service", service, "--id", id, "--host", "h", "--port", "1"});
    }

    std::string const keys_ = "redis_streaming_registry:services:";
};

TEST_F(MessagesTest, ADamagedServiceHidesNoOtherFromStat) {
    add("ok", "a");
    add("web", "a");
    redis().must({"DEL", keys_ + "web:heartbeats"});
    redis().must({"SET", keys_ + "web:heartbeats", "x"});
    auto const outcome = must({"stat", "--output", "json"});
    auto const document = outcome.json();
    EXPECT_EQ(document.at("total").at("instances").as_int64(), 1);
    EXPECT_EQ(document.at("services").as_array().size(), 1u);
    EXPECT_THAT(outcome.err, HasSubstr(keys_ + "web:heartbeats: WRONGTYPE"));
    auto const filtered = run({"list", "web", "--where", "a==b"});
    EXPECT_EQ(filtered.code, 1);
    EXPECT_THAT(filtered.err, HasSubstr("WRONGTYPE"));
    EXPECT_THAT(filtered.err, Not(HasSubstr("user_script")));
}

TEST_F(MessagesTest, PortZeroIsThePortOfTheScheme) {
    struct {
        std::string scheme;
        int port;
    } const table[] = {
        {"http", 80}, {"ws", 80}, {"https", 443}, {"WSS", 443}, {"redis-stream", 6'379}};
    for (auto const& [scheme, port] : table) {
        must({"register", "--service", "s", "--id", "a", "--host", "h", "--port", "0", "--scheme",
              scheme});
        EXPECT_EQ(list("s").at(0).at("port").as_int64(), port) << scheme;
    }
    auto const outcome =
        run({"register", "--service", "s", "--host", "h", "--port", "0", "--scheme", "tcp"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--port \"0\": must be 1 to 65535, for tcp"));
    EXPECT_EQ(run({"run", "--service", "s", "--host", "h", "--port", "0", "--", "true"}).code, 2);
}

TEST_F(MessagesTest, AnEmptyListIsExplained) {
    add("web", "a");
    EXPECT_EQ(must({"list", "wb"}).err,
              "rollcall: no service \"wb\" is known in \"redis_streaming_registry\" (layout "
              "streaming); did you mean \"web\"?\n");
    EXPECT_EQ(must({"list", "something else"}).err,
              "rollcall: no service \"something-else\" is known in \"redis_streaming_registry\" "
              "(layout streaming)\n");
    must({"disable", "--service", "web", "--id", "a"});
    EXPECT_EQ(must({"list", "web"}).err,
              "rollcall: no instance of \"web\" can be called; --all shows the others\n");
    EXPECT_EQ(must({"list", "web", "--where", "a==b"}).err,
              "rollcall: no instance of \"web\" matches\n");
    EXPECT_EQ(must({"list", "web", "--all"}).err, "");
    EXPECT_EQ(must({"list", "wb", "--output", "json"}).err, "");
}

TEST_F(MessagesTest, TheVersionNeedsNoConfigFile) {
    std::ofstream{home() / "broken.toml"} << "a = [";
    environment()["ROLLCALL_CONFIG"] = home() / "broken.toml";
    EXPECT_EQ(run({"services"}).code, 2);
    environment()["ROLLCALL_LAYOUT"] = "nonsense";
    environment()["ROLLCALL_OUTPUT"] = "json";
    EXPECT_THAT(must({"version"}).out, HasSubstr("{\"version\":"));
}

TEST_F(MessagesTest, AnAbsentRedisIsToldOnce) {
    server().kill();
    EXPECT_EQ(run({"services", "--timeout", "300ms"}).err,
              "rollcall: Redis cannot be reached: " + server().url() + ": Connection refused\n");
    EXPECT_EQ(run({"wait", "web", "--timeout", "300ms"}).err,
              "rollcall: Redis cannot be reached: " + server().url() + ": Connection refused\n");
    EXPECT_EQ(run({"doctor", "--timeout", "300ms"}).err, "");
}

TEST_F(MessagesTest, AUserHasOneEmbeddedRedis) {
    environment().erase("ROLLCALL_URL");
    auto const first = start({"serve", "--data", home() / "one"});
    ASSERT_TRUE(eventually([&] { return first.out().find("Ctrl-C") != std::string::npos; },
                           std::chrono::seconds{20}));
    auto const second = run({"serve", "--data", home() / "other"});
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.err, HasSubstr("rollcall/redis.sock\": is in use by another rollcall"));
    EXPECT_THAT(second.err, HasSubstr(": end that one, or set another XDG_RUNTIME_DIR"));
    must({"services"});
}

TEST_F(MessagesTest, WithoutAUrlItIsSaidThatNobodyServes) {
    environment()["ROLLCALL_URL"] = "";
    server().kill();
    // The socket of a 'serve' that was killed, so that it does not matter who is at port 6379.
    auto const folder = home() / "rollcall";
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    std::filesystem::rename(server().socket(), folder / "redis.sock");
    auto const expected = HasSubstr("no URL was given, and no 'rollcall serve' of this user runs");
    auto const outcome = run({"services", "--timeout", "300ms"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, expected);
    EXPECT_THAT(run({"doctor", "--timeout", "300ms"}).out, expected);
}

TEST_F(MessagesTest, ALogInThatIsRefusedSaysWhatToDo) {
    redis().must({"CONFIG", "SET", "requirepass", "pw"});
    EXPECT_EQ(run({"services"}).err,
              "rollcall: wrong credentials or a missing right: logging in: NOAUTH: give a password "
              "in the URL\n");
    auto const url = "unix://:pw@" + server().socket() + "?db=99";
    EXPECT_THAT(run({"services", "--url", url}).err,
                HasSubstr("the URL names a database that Redis does not have"));
}

TEST_F(MessagesTest, HeartbeatsRarerThanTheLeaseAreRefused) {
    for (auto const* layout : {"streaming", "cosky"}) {
        auto const outcome = run({"heartbeat", "--service", "web", "--id", "web@http#h#1",
                                  "--layout", layout, "--lease", "10s", "--every", "10s"});
        EXPECT_EQ(outcome.code, 2) << layout;
        EXPECT_THAT(outcome.err,
                    HasSubstr("--every \"10s\": must be shorter than the lease of 10s (--lease)"));
    }
}

}  // namespace
}  // namespace rollcall::test

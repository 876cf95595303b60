// `rollcall serve`: its own Redis, the housekeeping, and how it ends.

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ServeTest : public CliTest {
protected:
    ServeTest() { environment().erase("ROLLCALL_URL"); }

    std::string data() const { return (home() / "data").string(); }

    Program serve(Arguments further = {}) {
        Arguments arguments{"serve", "--data", data()};
        arguments.insert(arguments.end(), further.begin(), further.end());
        return start(std::move(arguments));
    }
    static pid_t child_of(Program const& program) {
        auto const pid = std::to_string(program.pid());
        std::ifstream file{"/proc/" + pid + "/task/" + pid + "/children"};
        pid_t child = 0;
        file >> child;
        return child;
    }
    static bool blocks(Program const& program, int signal) {
        std::ifstream file{"/proc/" + std::to_string(program.pid()) + "/status"};
        for (std::string line; std::getline(file, line);) {
            if (!line.starts_with("SigBlk:")) continue;
            return (std::stoull(line.substr(8), nullptr, 16) >> (signal - 1) & 1) != 0;
        }
        return false;
    }
    static bool ready(Program& program) {
        return eventually([&] { return program.out().find("Ctrl-C") != std::string::npos; }, 20s);
    }
    void add(std::string const& id, Arguments further = {}) {
        Arguments arguments{"register", "--service", "web",    "--id", id,
                            "--host",   "h",         "--port", "1"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        must(arguments);
    }
};

TEST_F(ServeTest, OtherCommandsFindItsRedisByThemselves) {
    auto program = serve();
    ASSERT_TRUE(ready(program)) << program.err();
    EXPECT_THAT(program.out(), HasSubstr("run --service web --port 8000 -- "));
    EXPECT_THAT(program.out(), HasSubstr("list web"));
    add("a", {"--persistent"});
    EXPECT_EQ(count("web"), 1u);
    program.signal(SIGTERM);
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err.find("lost the connection"), std::string::npos) << "in order";
    auto again = serve();
    ASSERT_TRUE(ready(again));
    EXPECT_EQ(list("web", {"--all"}).size(), 1u) << "kept in the data directory";
    again.signal(SIGINT);
    EXPECT_EQ(again.wait().code, 0);
}

TEST_F(ServeTest, AnEmbeddedRedisThatOthersCanReachIsPassedOverWithAWarning) {
    auto program = serve();
    ASSERT_TRUE(ready(program)) << program.err();
    std::filesystem::permissions(home() / "rollcall", std::filesystem::perms{0755});
    auto const outcome = run({"version"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(run({"services", "--timeout", "100ms"}).err,
                HasSubstr("the embedded Redis is not used, because its directory \"" +
                          (home() / "rollcall").string() + "\" is open to other users"));
}

TEST_F(ServeTest, ASecondOneInTheSameDirectoryIsRefused) {
    auto program = serve();
    ASSERT_TRUE(ready(program));
    auto const second = serve().wait();
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.err, HasSubstr(data()));
    EXPECT_TRUE(program.running());
}

TEST_F(ServeTest, ADirectoryThatCannotBeOneIsRefused) {
    std::ofstream{home() / "file"} << "x";
    auto const outcome = run({"serve", "--data", home() / "file"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr((home() / "file").string()));
}

TEST_F(ServeTest, EndsWithAnErrorWhenItsRedisDies) {
    auto program = serve();
    ASSERT_TRUE(ready(program));
    auto const child = child_of(program);
    ASSERT_GT(child, 0);
    ::kill(child, SIGKILL);
    auto const outcome = program.wait(10s);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("the Redis of this registry ended"));
}

TEST_F(ServeTest, SaysItInJsonToo) {
    auto program = serve({"--output", "json"});
    ASSERT_TRUE(eventually([&] { return program.out().ends_with('\n'); }, 20s));
    program.signal(SIGTERM);
    auto const outcome = program.wait();
    EXPECT_TRUE(outcome.json().at("embedded").as_bool());
}

TEST_F(ServeTest, RemovesAndAnnouncesWhatExpiresOnce) {
    environment()["ROLLCALL_URL"] = server().url();
    auto first = start({"serve", "--lease", "1s"});
    auto second = start({"serve", "--lease", "1s"});
    ASSERT_TRUE(ready(first) && ready(second));
    Listener listener{server()};
    add("a", {"--lease", "1s"});
    std::size_t removed = 0;
    auto const look = [&] {
        for (auto const& message : listener.drain()) {
            if (message.payload.find("REMOVED") != std::string::npos) ++removed;
        }
        return removed > 0;
    };
    ASSERT_TRUE(eventually(look, 10s)) << "by itself, soon after the lease";
    EXPECT_EQ(list("web", {"--all"}).size(), 0u);
    // The other one would announce within its next round.
    auto const begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] {
        look();
        return std::chrono::steady_clock::now() - begin > 2s;
    }));
    EXPECT_EQ(removed, 1u);
}

TEST_F(ServeTest, AnotherTakesOverWhenOneEnds) {
    environment()["ROLLCALL_URL"] = server().url();
    auto first = start({"serve", "--lease", "1s"});
    ASSERT_TRUE(ready(first));
    auto second = start({"serve", "--lease", "1s"});
    ASSERT_TRUE(ready(second));
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait().code, 0);
    add("a", {"--lease", "1s"});
    EXPECT_TRUE(eventually(
        [&] {
            return redis().must({"KEYS", "*:instance:a"}).elements.empty() &&
                   redis().must({"EXISTS", "redis_streaming_registry:services:web:heartbeats"})
                           .integer == 0;
        },
        10s));
}

TEST_F(ServeTest, WaitsForARedisThatIsAway) {
    environment()["ROLLCALL_URL"] = server().url();
    server().kill();
    auto program = start({"serve", "--lease", "1s", "--timeout", "300ms"});
    ASSERT_TRUE(eventually(
        [&] { return program.err().find("cannot keep house") != std::string::npos; }, 10s));
    server().start();
    EXPECT_TRUE(eventually(
        [&] { return program.err().find("keeping house again") != std::string::npos; }, 10s));
    server().kill();
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(5s).code, 0);
}

TEST_F(ServeTest, EndsSoonWhileItsRedisIsSilent) {
    environment()["ROLLCALL_URL"] = server().url();
    auto program = start({"serve", "--lease", "3s", "--timeout", "20s"});
    ASSERT_TRUE(ready(program));
    ASSERT_TRUE(eventually([&] {
        return redis().must({"EXISTS", "redis_streaming_registry:rollcall:sweep"}).integer == 1;
    }));
    server().signal(SIGSTOP);
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(5s).code, 0);
    server().signal(SIGCONT);
}

TEST_F(ServeTest, ASecondSignalEndsItAtOnce) {
    auto program = serve();
    ASSERT_TRUE(ready(program));
    auto const child = child_of(program);
    ASSERT_GT(child, 0);
    // It is waited for, some seconds, in vain.
    ::kill(child, SIGSTOP);
    program.signal(SIGTERM);
    EXPECT_TRUE(eventually([&] { return !blocks(program, SIGTERM); }, 3s));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(2s).code, 128 + SIGTERM);
    ::kill(child, SIGKILL);
}

TEST_F(ServeTest, WarnsOfARedisThatMayEvict) {
    environment()["ROLLCALL_URL"] = server().url();
    redis().must({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    auto program = start({"serve"});
    EXPECT_TRUE(eventually(
        [&] { return program.err().find("maxmemory-policy allkeys-lru") != std::string::npos; }));
}

TEST_F(ServeTest, SaysFromTimeToTimeWhatItSees) {
    auto program = serve({"--report-every", "200ms"});
    ASSERT_TRUE(ready(program)) << program.err();
    add("a", {"--persistent"});
    add("b", {"--persistent"});
    EXPECT_TRUE(eventually([&] {
        return program.err().find("1 services, 2 instances, 0 of them suspect; in 200ms: ") !=
               std::string::npos;
    })) << program.err();
    EXPECT_THAT(program.err(), HasSubstr(" s from that of Redis"));
    RedisClient redis{(home() / "rollcall" / "redis.sock").string()};
    auto const epoch = std::string{"redis_streaming_registry:rollcall:epoch"};
    EXPECT_TRUE(eventually([&] { return redis.must({"EXISTS", epoch}).integer == 1; }));
    redis.must({"FLUSHALL"});
    EXPECT_TRUE(eventually([&] { return redis.must({"EXISTS", epoch}).integer == 1; }))
        << "a new one, for new data";
    EXPECT_EQ(run({"serve", "--report-every", "0s"}).code, 2);
}

}  // namespace
}  // namespace rollcall::test

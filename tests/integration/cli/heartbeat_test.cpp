// `rollcall heartbeat --every`: until a signal, through any absence of Redis.

#include <csignal>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class HeartbeatTest : public CliTest {
protected:
    Program beat(Arguments further) {
        Arguments arguments{"heartbeat", "--service", "web", "--id", "a"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        return start(arguments);
    }
    static bool says(Program const& program, std::string const& text) {
        return eventually([&] { return program.err().find(text) != std::string::npos; });
    }
};

TEST_F(HeartbeatTest, KeepsGoingUntilASignal) {
    must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1", "--lease",
          "1s"});
    auto beating = beat({"--every", "200ms", "--lease", "1s", "--timeout", "300ms"});
    ASSERT_TRUE(says(beating, "is alive"));
    auto const begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 2s) {
        ASSERT_EQ(list("web", {"--lease", "1s"}).size(), 1u);
    }
    server().kill();
    ASSERT_TRUE(says(beating, "cannot send heartbeats"));
    server().start();
    ASSERT_TRUE(says(beating, "is gone"));
    beating.signal(SIGTERM);
    EXPECT_EQ(beating.wait(2s).code, 0);
}

TEST_F(HeartbeatTest, ComesSoonAfterRedisIsBack) {
    server().kill();
    auto beating = beat({"--every", "60s", "--timeout", "300ms"});
    ASSERT_TRUE(says(beating, "cannot send heartbeats"));
    server().start();
    EXPECT_TRUE(says(beating, "is gone"))
        << "not only a minute later, when its lease may have ended";
}

TEST_F(HeartbeatTest, EndsAtOnceWhileRedisIsAway) {
    server().kill();
    auto beating = beat({"--every", "1s", "--timeout", "20s"});
    ASSERT_TRUE(eventually([&] { return !beating.err().empty(); }, 10s));
    beating.signal(SIGINT);
    EXPECT_EQ(beating.wait(2s).code, 0);
}

}  // namespace
}  // namespace rollcall::test

// `rollcall heartbeat --every`: until a signal, through any absence of Redis.

#include <csignal>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

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
    void register_a(std::string const& lease = "1s") {
        must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1", "--lease",
              lease});
    }
    void wait_for_renewal() {
        auto const renewed_at = [this] {
            return redis()
                .must({"ZSCORE", "redis_streaming_registry:services:web:heartbeats", "a"})
                .text;
        };
        auto const before = renewed_at();
        ASSERT_TRUE(eventually([&] { return renewed_at() != before; }));
    }
    static std::size_t occurrences(std::string const& text, std::string const& part) {
        std::size_t count = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            ++count;
        }
        return count;
    }
};

TEST_F(HeartbeatTest, KeepsGoingUntilASignal) {
    register_a();
    auto beating = beat({"--every", "200ms", "--lease", "1s", "--timeout", "300ms"});
    ASSERT_TRUE(says(beating, "a of web is alive"));
    auto const begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 2s) {
        ASSERT_EQ(list("web", {"--lease", "1s"}).size(), 1u);
    }
    server().kill();
    ASSERT_TRUE(says(beating, "cannot connect to"));
    server().start();
    ASSERT_TRUE(says(beating, "a of web is gone"));
    EXPECT_EQ(count("web"), 0u) << "it is not its own to register";
    beating.signal(SIGTERM);
    EXPECT_EQ(beating.wait(2s).code, 0);
}

TEST_F(HeartbeatTest, HearsOfARemovalAndOfTheOwnersReturn) {
    // Long enough to be sure that it has not ended, on any machine.
    register_a("60s");
    auto beating = beat({"--every", "200ms", "--lease", "60s", "--id", "b"});
    ASSERT_TRUE(says(beating, "a of web is alive"));
    ASSERT_TRUE(says(beating, "b of web is gone"));
    // Of the first ones it may not be known in which data they were.
    for (int i = 0; i < 2; ++i) wait_for_renewal();
    must({"deregister", "--service", "web", "--id", "a"});
    ASSERT_TRUE(says(beating, "a of web is gone: somebody deregistered it"));
    register_a("60s");
    EXPECT_TRUE(eventually([&] { return occurrences(beating.err(), "a of web is alive") == 2; }));
    beating.signal(SIGTERM);
    EXPECT_EQ(beating.wait(2s).code, 0);
    EXPECT_EQ(count("web"), 1u) << "its end leaves it";
    EXPECT_EQ(occurrences(beating.err(), "b of web"), 1u) << "what does not change is told once";
}

TEST_F(HeartbeatTest, ADrainIsItsOwnersConcern) {
    register_a();
    auto beating = beat({"--every", "200ms", "--lease", "1s"});
    ASSERT_TRUE(says(beating, "a of web is alive"));
    must({"drain", "--service", "web", "--id", "a", "--for", "30s"});
    auto const begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < 2s) {
        ASSERT_EQ(list("web", {"--lease", "1s", "--all"}).size(), 1u);
    }
    EXPECT_THAT(beating.err(), Not(HasSubstr("drain")));
    beating.signal(SIGTERM);
    EXPECT_EQ(beating.wait(2s).code, 0);
}

TEST_F(HeartbeatTest, ComesAsSoonAsRedisIsBack) {
    server().kill();
    auto beating = beat({"--every", "60s", "--timeout", "300ms"});
    ASSERT_TRUE(says(beating, "cannot connect to"));
    server().start();
    EXPECT_TRUE(says(beating, "is gone"))
        << "not only a minute later, when its lease may have ended";
}

TEST_F(HeartbeatTest, WhatRedisRefusesIsTold) {
    register_a();
    auto beating = beat({"--every", "200ms", "--lease", "1s", "--timeout", "300ms"});
    ASSERT_TRUE(says(beating, "a of web is alive"));
    redis().must({"DEL", "redis_streaming_registry:services:web:heartbeats"});
    redis().must({"SET", "redis_streaming_registry:services:web:heartbeats", "x"});
    EXPECT_TRUE(says(beating, "WRONGTYPE")) << beating.err();
    beating.signal(SIGTERM);
    EXPECT_EQ(beating.wait(2s).code, 0);
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

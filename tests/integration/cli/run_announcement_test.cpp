// `rollcall run` keeps its instance registered, whatever Redis, operators and other owners do: in
// both layouts.

#include <csignal>
#include <gmock/gmock.h>

#include "run_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class RunAnnouncementTest : public RunTest, public testing::WithParamInterface<std::string> {
protected:
    RunAnnouncementTest() {
        environment()["ROLLCALL_LAYOUT"] = GetParam();
        if (cosky()) id_ = "web@http#127.0.0.1#" + port();
    }

    static bool cosky() { return GetParam() == "cosky"; }
    std::string key() const {
        return cosky() ? "cosky-{default}:svc_itc:" + id_
                       : "redis_streaming_registry:services:web:instance:" + id_;
    }
    bool stored() { return redis().must({"EXISTS", key()}).integer == 1; }
    /// As an operator does.
    void order(std::string const& what, Arguments further = {}) {
        Arguments words{what, "--service", "web", "--id", id_};
        words.insert(words.end(), further.begin(), further.end());
        must(words);
    }
    /// Nobody calls it, and it is stored as the layout stores such a one.
    bool is_drained() {
        if (cosky()) return !stored();
        return redis().must({"HGET", key(), "enabled"}).text == "false";
    }
    static std::size_t times(std::string const& text, Program const& program) {
        std::size_t count = 0;
        auto const err = program.err();
        for (auto at = err.find(text); at != std::string::npos; at = err.find(text, at + 1)) {
            ++count;
        }
        return count;
    }
};

TEST_P(RunAnnouncementTest, IsBackAboutASecondAfterRedisCameBackEmpty) {
    lease_ = "60s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    server().kill();
    ASSERT_TRUE(says(program, "lost the connection to"));
    server().start();
    auto const begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return stored(); }, 10s));
    // A second at most until the next attempt to connect, half a second for the rest, and as much
    // for a busy machine. The next heartbeat is due in ten.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2'500ms);
    EXPECT_TRUE(listed());
    EXPECT_TRUE(says(program, "Redis lost web/" + id_));
    EXPECT_TRUE(says(program, "registered again " + id_ + " of web at http://127.0.0.1:" + port()));
}

TEST_P(RunAnnouncementTest, IsBackAtOnceAfterAFlush) {
    lease_ = "60s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    redis().must({"FLUSHALL"});
    redis().must({"SCRIPT", "FLUSH"});
    auto const begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return stored(); }, 10s));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
    EXPECT_TRUE(listed());
}

TEST_P(RunAnnouncementTest, WaitsForARedisThatIsNotThereYet) {
    server().kill();
    auto program = supervise({"--timeout", "300ms"}, {});
    ASSERT_TRUE(says(program, "cannot register yet, will keep trying: Redis cannot be reached"));
    EXPECT_THAT(program.out(), HasSubstr("ready")) << "the command runs";
    server().start();
    EXPECT_TRUE(listed());
    EXPECT_TRUE(says(program, "registered " + id_));
    EXPECT_EQ(times("cannot register yet", program), 1u);
}

TEST_P(RunAnnouncementTest, TakesBackWhatAnOperatorRemovedAndSaysSo) {
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    order("deregister");
    EXPECT_TRUE(says(program, "somebody deregistered web/" + id_));
    EXPECT_TRUE(says(program, "registered again " + id_));
    EXPECT_TRUE(listed());
    EXPECT_THAT(program.err(), Not(HasSubstr("Redis lost")));
}

TEST_P(RunAnnouncementTest, ObeysADrainUntilItEnds) {
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    order("drain", {"--for", "30s"});
    ASSERT_TRUE(says(program, "an operator drains web/" + id_));
    EXPECT_TRUE(is_drained());
    EXPECT_EQ(count("web"), 0u);
    program.signal(SIGTERM);
    program.wait();
    EXPECT_FALSE(stored());

    // The mark is about the id: its next owner obeys, too.
    auto next = supervise({}, {});
    ASSERT_TRUE(says(next, "an operator drains web/" + id_));
    EXPECT_TRUE(eventually([&] { return is_drained(); }));
    EXPECT_EQ(count("web"), 0u);
    EXPECT_THAT(next.err(), Not(HasSubstr("cannot register yet")));
    redis().must({"DEL", (cosky() ? "cosky-{default}" : "redis_streaming_registry") +
                             (":rollcall:drained:web:" + id_)});
    EXPECT_TRUE(says(next, "not drained any more: " + id_));
    EXPECT_TRUE(listed());
}

TEST_P(RunAnnouncementTest, ADrainMayBeShorterThanAHeartbeat) {
    lease_ = "9s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    order("drain", {"--for", "1s"});
    EXPECT_EQ(count("web"), 0u);
    ASSERT_TRUE(says(program, "not drained any more: " + id_));
    EXPECT_TRUE(listed());
    EXPECT_THAT(program.err(), Not(HasSubstr("somebody deregistered")));
}

TEST_P(RunAnnouncementTest, ADrainIsEndedByItsOperator) {
    lease_ = "1s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    order("drain", {"--for", "1h"});
    ASSERT_TRUE(says(program, "an operator drains web/" + id_));
    if (cosky()) {
        order("drain", {"--end"});
    } else {
        order("enable");
    }
    EXPECT_TRUE(says(program, "not drained any more: " + id_));
    EXPECT_TRUE(listed());
}

TEST_P(RunAnnouncementTest, SaysThatAnotherKeepsTheSameIdAlive) {
    lease_ = "1s";
    auto first = supervise({}, {});
    ASSERT_TRUE(listed());
    auto second = supervise({"--start-timeout", "0"}, {"late=60000"});
    auto const told = "another process keeps alive, too, web/" + id_;
    EXPECT_TRUE(says(first, told)) << first.err();
    EXPECT_TRUE(says(second, told)) << second.err();
}

TEST_P(RunAnnouncementTest, NothingComesBackAfterTheEndBegan) {
    lease_ = "1s";
    auto program = supervise({"--settle", "0"}, {"linger=2500", "code=7"});
    ASSERT_TRUE(listed());
    program.signal(SIGTERM);
    ASSERT_TRUE(eventually([&] { return program.out().find("signal 15") != std::string::npos; }));
    EXPECT_FALSE(stored());
    redis().must({"FLUSHALL"});
    redis().must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    while (program.running()) ASSERT_FALSE(stored()) << "brought back";
    EXPECT_EQ(program.wait().code, 7);
    EXPECT_FALSE(stored());
    EXPECT_THAT(program.err(), HasSubstr("deregistered " + id_));
}

TEST_P(RunAnnouncementTest, DeregistersWhatItCouldNotWhileRedisWasAway) {
    server().kill();
    server().start({"appendonly yes", "appendfsync always"});
    lease_ = "60s";
    auto program = supervise({}, {"linger=4000"});
    ASSERT_TRUE(listed());
    server().kill();
    ASSERT_TRUE(says(program, "lost the connection to"));
    program.signal(SIGTERM);
    ASSERT_TRUE(eventually([&] { return program.out().find("signal 15") != std::string::npos; }));
    server().start({"appendonly yes", "appendfsync always"});
    EXPECT_TRUE(eventually([&] { return !stored(); }, 5s)) << program.err();
    EXPECT_TRUE(says(program, "deregistered " + id_));
    EXPECT_EQ(program.wait().code, 0);
}

auto const layout_of = [](auto const& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(In, RunAnnouncementTest, testing::Values("streaming", "cosky"), layout_of);

}  // namespace
}  // namespace rollcall::test

#include <algorithm>
#include <csignal>
#include <thread>

#include "fixture.hpp"

namespace rollcall::test {
namespace {

class Deadlines : public WithRedis {
protected:
    /// Several calls, of which the median counts: a busy machine delays some.
    static void expect_end_in_time(redis::ClientCore& core, errc expected) {
        std::vector<std::chrono::milliseconds> overshoots;
        for (int i = 0; i < 5; ++i) {
            auto const limit = 60ms + i * 7ms;
            Result<redis::Response> outcome{redis::Response{}};
            auto const took = time_of([&] { outcome = execute(core, "PING", {}, limit); });
            ASSERT_FALSE(outcome);
            EXPECT_EQ(outcome.error().code(), expected) << outcome.error().detail();
            EXPECT_GE(took, limit);
            overshoots.push_back(took - limit);
        }
        std::sort(overshoots.begin(), overshoots.end());
        EXPECT_LE(overshoots[2], tolerated_overshoot);
    }
};

TEST_F(Deadlines, HoldWhileRedisPauses) {
    auto const core = connect_to(server().url());
    execute(*core, "PING").value();
    admin.must({"CLIENT", "PAUSE", "1000", "ALL"});
    expect_end_in_time(*core, errc::timeout);
    EXPECT_TRUE(execute(*core, "PING"));
}

TEST_F(Deadlines, HoldWhileRedisIsStopped) {
    auto const core = connect_to(server().url());
    execute(*core, "PING").value();
    server().signal(SIGSTOP);
    expect_end_in_time(*core, errc::timeout);
    server().signal(SIGCONT);
    EXPECT_TRUE(execute(*core, "PING"));
}

TEST_F(Deadlines, HoldWithoutConnectionAndTellWhy) {
    auto const core = connect_to("unix:///nonexistent/redis.sock");
    expect_end_in_time(*core, errc::not_connected);
    auto const outcome = execute(*core, "PING", {}, 10ms);
    EXPECT_NE(outcome.error().detail().find("unix:///nonexistent/redis.sock: No such file"),
              std::string::npos)
        << outcome.error().detail();
}

TEST_F(Deadlines, HoldWhileOthersTakeAllTheRoom) {
    ClientOptions options;
    options.url = server().url();
    options.max_in_flight = 1;
    auto const core = redis::ClientCore::create(options);
    execute(*core, "PING").value();
    admin.must({"CLIENT", "PAUSE", "1000", "ALL"});
    std::thread blocking{[&] { execute(*core, "PING", {}, 5s).value(); }};
    expect_end_in_time(*core, errc::timeout);
    blocking.join();
}

TEST_F(Deadlines, ThatHavePassedEndTheCallAtOnce) {
    auto const core = connect_to(server().url());
    admin.must({"CLIENT", "PAUSE", "300", "ALL"});
    for (auto const limit : {-1000ms, 0ms}) {
        Result<redis::Response> outcome{redis::Response{}};
        EXPECT_LE(time_of([&] { outcome = execute(*core, "PING", {}, limit); }),
                  tolerated_overshoot);
        EXPECT_FALSE(outcome);
    }
}

TEST_F(Deadlines, PassedCallLeavesTheConnectionUsable) {
    auto const core = connect_to(server().url());
    auto const id = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    admin.must({"CLIENT", "PAUSE", "200", "ALL"});
    EXPECT_EQ(execute(*core, "ECHO", {"late"}, 50ms).error().code(), errc::timeout);
    EXPECT_EQ(execute(*core, "ECHO", {"next"}).value()[0].text(), "next");
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), id);
}

}  // namespace
}  // namespace rollcall::test

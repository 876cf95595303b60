#include <atomic>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fixture.hpp"

namespace {

bool is_child = false;

}  // namespace

#ifdef __SANITIZE_ADDRESS__
/// Asked by the leak check at exit: in a child, what the parent's threads hold looks lost.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return is_child; }
#endif

namespace rollcall::test {
namespace {

[[noreturn]] void exit_as_child(bool success) {
    is_child = true;
    std::exit(success ? 0 : 1);
}

#ifdef __SANITIZE_THREAD__
constexpr int children = 4;  // ThreadSanitizer rests for a second at the end of each.
#else
constexpr int children = 50;
#endif

/// Waits for `child` at most `limit`; its exit code, or -1 when it had to be killed.
int exit_code_of(pid_t child, std::chrono::milliseconds limit) {
    int status = 0;
    bool const ended =
        eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }, limit);
    if (!ended) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1'000 + WTERMSIG(status);
}

// A loop with an empty body around the await would be miscompiled by g++ 12.
Task<void> idle() {
    for (bool go_on = true; go_on;) go_on = co_await pause(1ms);
}

TEST(Fork, ChildIsRefusedAndLeavesTheParentAlone) {
    RedisServer server;
    auto core = connect_to(server.url(), [](LogLevel, std::string_view) {});
    auto background = core->spawn([] { return idle(); });
    auto const id = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    std::atomic<int> failed{0};
    std::vector<std::thread> busy;
    busy.reserve(2);
    for (int i = 0; i < 2; ++i) {
        busy.emplace_back([&] {
            for (int j = 0; j < children / 2; ++j) {
                for (int k = 0; k < 20; ++k) failed += execute(*core, "INCR", {"k"}) ? 0 : 1;
                auto const child = ::fork();
                if (child == 0) {
                    bool const refused =
                        core->closed() && execute(*core, "PING").error().code() == errc::closed;
                    background.stop();
                    auto const late = core->spawn([] { return idle(); });
                    core.reset();
                    exit_as_child(refused);
                }
                EXPECT_EQ(exit_code_of(child, 5s), 0);
            }
        });
    }
    for (auto& thread : busy) thread.join();
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), id);
}

#ifndef __SANITIZE_THREAD__  // It allows no new thread in a child of many threads.
TEST(Fork, ChildMayHaveAClientOfItsOwn) {
    RedisServer server;
    auto const core = connect_to(server.url());
    execute(*core, "PING").value();
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto own = connect_to(server.url());
        bool const works = execute(*own, "SET", {"k", "child"}).has_value();
        own.reset();
        exit_as_child(works);
    }
    EXPECT_EQ(exit_code_of(child, 10s), 0);
    EXPECT_EQ(execute(*core, "GET", {"k"}).value()[0].text(), "child");
}
#endif

}  // namespace
}  // namespace rollcall::test

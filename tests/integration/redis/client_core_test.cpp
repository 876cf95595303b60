#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "fixture.hpp"

namespace rollcall::test {
namespace {

std::size_t threads_of_this_process() {
    std::thread{[] {}}.join();  // A sanitizer starts one of its own with the first.
    std::size_t count = 0;
    for ([[maybe_unused]] auto const& each :
         std::filesystem::directory_iterator{"/proc/self/task"}) {
        ++count;
    }
    return count;
}

std::set<int> descriptors() {
    std::set<int> open;
    for (auto const& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        open.insert(std::stoi(each.path().filename()));
    }
    return open;
}

class Core : public WithRedis {};

Task<Result<int>> give(int value) { co_return value; }
Task<Result<int>> fail() { co_return Failure{errc::not_supported, "no"}; }
Task<Result<int>> refuse() {
    throw std::invalid_argument{"name: must not be empty"};
    co_return 0;
}

TEST_F(Core, RunPassesOnWhatTheCoroutineGives) {
    auto const core = connect_to(server().url());
    EXPECT_EQ(core->run([] { return give(7); }).value(), 7);
    auto const failed = core->run([] { return fail(); });
    EXPECT_EQ(failed.error().code(), errc::not_supported);
    EXPECT_EQ(failed.error().detail(), "no");
    EXPECT_THROW(core->run([] { return refuse(); }), std::invalid_argument);
    auto const throwing = []() -> Task<Result<int>> { throw std::out_of_range{"made nothing"}; };
    EXPECT_THROW(core->run(throwing), std::out_of_range);
    EXPECT_EQ(core->run([] { return give(8); }).value(), 8);
}

Task<Result<int>> fail_as_boost_does() {
    throw boost::system::system_error{asio::error::no_memory};
    co_return 0;
}

TEST_F(Core, NoExceptionOfBoostLeavesRun) {
    auto const core = connect_to(server().url());
    try {
        core->run([] { return fail_as_boost_does(); });
        FAIL() << "no exception";
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), std::errc::not_enough_memory);
    }
}

TEST_F(Core, RefusesToWaitOnItsOwnThread) {
    auto const core = connect_to(server().url());
    auto const outcome =
        on_io_thread(*core, [&] { return core->run([] { return give(1); }).error().code(); });
    EXPECT_EQ(outcome, errc::closed);
}

TEST_F(Core, BadOptionsAreNamed) {
    auto const message_of = [](ClientOptions const& options) {
        try {
            redis::ClientCore::create(options);
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"accepted"};
    };
    ClientOptions options;
    options.url = "redis://h:70000";
    EXPECT_EQ(message_of(options), "url: port \"70000\": must be a number from 1 to 65535");
    for (auto const timeout : {0ms, -1ms, std::chrono::milliseconds::max()}) {
        options = {};
        options.request_timeout = timeout;
        EXPECT_TRUE(message_of(options).starts_with("request_timeout ")) << message_of(options);
    }
    options = {};
    options.max_in_flight = 0;
    EXPECT_TRUE(message_of(options).starts_with("max_in_flight 0: ")) << message_of(options);
}

TEST_F(Core, ManyLiveSideBySideAndLeaveNoThread) {
    auto const before = threads_of_this_process();
    {
        std::vector<test::Core> cores;
        cores.reserve(30);
        for (int i = 0; i < 30; ++i) cores.push_back(connect_to(server().url()));
        for (auto const& core : cores) EXPECT_TRUE(execute(*core, "INCR", {"k"}));
        EXPECT_EQ(admin.must({"GET", "k"}).text, "30");
        EXPECT_GE(threads_of_this_process(), before + 30);
    }
    EXPECT_TRUE(eventually([&] { return threads_of_this_process() == before; }));
    EXPECT_TRUE(
        eventually([&] { return info_number(admin, "clients", "connected_clients") == 1; }));
}

TEST_F(Core, EndsWithinASecondWhateverRedisDoes) {
    auto const end = [](test::Core core) { return time_of([&] { core.reset(); }); };
    EXPECT_LT(end(connect_to(server().url())), 1s);
    EXPECT_LT(end(connect_to("unix:///nonexistent/redis.sock")), 1s);
    EXPECT_LT(end(connect_to("redis://192.0.2.1:6379")), 1s);  // An address that answers nobody.

    auto core = connect_to(server().url());
    execute(*core, "PING").value();
    server().signal(SIGSTOP);
    EXPECT_EQ(execute(*core, "PING", {}, 20ms).error().code(), errc::timeout);
    EXPECT_LT(end(std::move(core)), 1s);
    server().signal(SIGCONT);
}

TEST_F(Core, LastOwnerMayBeTheThreadItself) {
    auto const before = threads_of_this_process();
    for (int i = 0; i < 20; ++i) {
        auto core = connect_to(server().url());
        if (i % 2 == 0) execute(*core, "PING").value();
        auto& io = core->io();
        asio::post(io, [last = std::move(core)]() mutable { last.reset(); });
    }
    EXPECT_TRUE(eventually([&] { return threads_of_this_process() == before; }));
}

TEST_F(Core, ThreadHasANameAndTakesNoSignals) {
    auto const core = connect_to(server().url());
    execute(*core, "PING").value();
    std::string blocked;
    for (auto const& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream status{task.path() / "status"};
        std::string line;
        std::getline(status, line);
        if (line != "Name:\trollcall-io") continue;
        while (std::getline(status, line)) {
            if (line.starts_with("SigBlk:")) blocked = line.substr(8);
        }
    }
    ASSERT_FALSE(blocked.empty());
    auto const bits = std::stoull(blocked, nullptr, 16);
    for (int const number : {SIGINT, SIGTERM, SIGCHLD, SIGHUP, SIGALRM, SIGUSR1}) {
        EXPECT_TRUE(bits & (1ull << (number - 1))) << number;
    }
}

TEST_F(Core, SaysNothingOnItsOwn) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    {
        auto const good = connect_to(server().url());
        execute(*good, "NOSUCHCOMMAND").value();
        admin.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        execute(*good, "PING").value();
        auto const bad = connect_to("unix:///nonexistent/redis.sock");
        EXPECT_FALSE(execute(*bad, "PING", {}, 50ms));
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

struct Beat {
    std::atomic<int> beats{0};
    std::atomic<bool> ended{false};
};

struct EndMark {
    std::shared_ptr<Beat> beat;
    ~EndMark() { beat->ended = true; }
};

Task<void> beat_for_ever(std::shared_ptr<Beat> beat) {
    EndMark const mark{beat};
    while (co_await pause(1ms)) ++beat->beats;
}

Task<void> wait_for_ever(redis::Session& session, std::shared_ptr<Beat> beat,
                         std::atomic<bool>& cancelled) {
    EndMark const mark{beat};
    redis::Request request;
    request.push("PING");
    redis::Response response;
    ++beat->beats;
    auto const outcome = co_await session.exec(request, response, after(1h));
    cancelled = !outcome && outcome.error().code() == errc::cancelled;
}

TEST_F(Core, BackgroundWorkRunsUntilItsOwnerStopsIt) {
    auto const core = connect_to(server().url());
    auto const beat = std::make_shared<Beat>();
    auto background = core->spawn([beat] { return beat_for_ever(beat); });
    EXPECT_TRUE(eventually([&] { return beat->beats > 3; }));
    EXPECT_FALSE(beat->ended);
    background.stop();
    EXPECT_TRUE(beat->ended);
    background.stop();

    auto const second = std::make_shared<Beat>();
    background = core->spawn([second] { return beat_for_ever(second); });
    background = {};
    EXPECT_TRUE(second->ended || second->beats == 0);
}

Task<void> pause_once(std::chrono::milliseconds time, std::shared_ptr<Beat> beat) {
    EndMark const mark{beat};
    beat->beats = 1;
    if (co_await pause(time)) beat->beats = 2;
}

TEST_F(Core, TheLongestPauseIsNoShortOne) {
    auto const core = connect_to(server().url());
    auto const longest = std::make_shared<Beat>();
    auto const brief = std::make_shared<Beat>();
    auto waiting =
        core->spawn([longest] { return pause_once(std::chrono::milliseconds::max(), longest); });
    auto passing = core->spawn([brief] { return pause_once(50ms, brief); });
    EXPECT_TRUE(eventually([&] { return brief->beats == 2; }));
    EXPECT_EQ(longest->beats, 1);
    waiting.stop();
    EXPECT_TRUE(longest->ended);
    EXPECT_EQ(longest->beats, 1) << "cut short, not passed";
}

TEST_F(Core, BackgroundWorkThatWaitsForRedisIsCutShort) {
    auto const core = connect_to("unix:///nonexistent/redis.sock");
    auto const beat = std::make_shared<Beat>();
    std::atomic<bool> cancelled{false};
    auto background = core->spawn([&] { return wait_for_ever(core->session(), beat, cancelled); });
    EXPECT_TRUE(eventually([&] { return beat->beats == 1; }));
    EXPECT_LT(time_of([&] { background.stop(); }), 1s);
    EXPECT_TRUE(beat->ended);
    EXPECT_TRUE(cancelled);
}

TEST_F(Core, BackgroundWorkMayBeStoppedOnTheThreadItself) {
    auto const core = connect_to(server().url());
    for (bool const at_once : {true, false}) {
        auto const beat = std::make_shared<Beat>();
        redis::Background background;
        on_io_thread(*core, [&] {
            background = core->spawn([beat] { return beat_for_ever(beat); });
            if (at_once) background.stop();
            return true;
        });
        if (at_once) {
            on_io_thread(*core, [] { return true; });
            EXPECT_EQ(beat->beats, 0);
            continue;
        }
        EXPECT_TRUE(eventually([&] { return beat->beats > 0; }));
        on_io_thread(*core, [&] {
            background.stop();
            return true;
        });
        EXPECT_TRUE(eventually([&] { return beat->ended.load(); }));
    }
}

Task<void> break_down() {
    co_await pause(1ms);
    throw std::runtime_error{"broken\n"};
}

TEST_F(Core, BrokenBackgroundWorkIsLogged) {
    std::mutex mutex;
    std::string logged;
    auto const core = connect_to(server().url(), [&](LogLevel level, std::string_view text) {
        std::lock_guard const lock{mutex};
        if (level == LogLevel::error) logged = text;
    });
    auto const background = core->spawn([] { return break_down(); });
    EXPECT_TRUE(eventually([&] {
        std::lock_guard const lock{mutex};
        return logged == "background work ended: broken\\x0a";
    })) << logged;
}

Task<void> hold(test::Core core, std::shared_ptr<Beat> beat) {
    EndMark const mark{beat};
    while (co_await pause(1ms)) beat->beats += core->closed() ? 0 : 1;
}

TEST_F(Core, ProgramsThatTheHostStartsInheritNothing) {
    auto const before = descriptors();
    auto const core = connect_to(server().url());
    execute(*core, "PING").value();
    std::size_t opened = 0;
    for (int const descriptor : descriptors()) {
        auto const flags = ::fcntl(descriptor, F_GETFD);
        if (before.contains(descriptor) || flags < 0) continue;
        ++opened;
        EXPECT_TRUE(flags & FD_CLOEXEC) << "descriptor " << descriptor;
    }
    EXPECT_GT(opened, 0u);
}

TEST_F(Core, BackgroundWorkMayHoldTheCore) {
    auto const before = threads_of_this_process();
    auto const beat = std::make_shared<Beat>();
    {
        auto core = connect_to(server().url());
        auto const background = core->spawn([core, beat] { return hold(core, beat); });
        core.reset();
        EXPECT_TRUE(eventually([&] { return beat->beats > 3; }));
    }
    EXPECT_TRUE(beat->ended);
    EXPECT_TRUE(eventually([&] { return threads_of_this_process() == before; }));
}

}  // namespace
}  // namespace rollcall::test

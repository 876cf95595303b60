#include "redis/embedded_redis.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.hpp"
#include "redis/runtime_directory.hpp"

namespace rollcall::test {
namespace {

namespace fs = std::filesystem;

class Embedded : public testing::Test {
protected:
    redis::EmbeddedRedisOptions options(std::string const& data = "data",
                                        std::string const& socket = "run/redis.sock") const {
        redis::EmbeddedRedisOptions result;
        result.data = folder.path() / data;
        result.socket = folder.path() / socket;
        result.start_limit = 20s;
        return result;
    }

    template <class Exception>
    static void expect_refused(redis::EmbeddedRedisOptions const& options,
                               std::vector<std::string> const& parts) {
        try {
            redis::EmbeddedRedis const server{options};
            FAIL() << "started";
        } catch (Exception const& error) {
            for (auto const& part : parts) {
                EXPECT_NE(std::string_view{error.what()}.find(part), std::string_view::npos)
                    << error.what();
            }
        }
    }

    /// A process that runs an embedded server and does nothing else: its id and the server's.
    struct Host {
        pid_t pid;
        pid_t server;
    };
    Host host_process() const {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        auto const pid = ::fork();
        if (pid == 0) {
            try {
                redis::EmbeddedRedis const server{options()};
                auto const id = server.pid();
                [[maybe_unused]] auto const written = ::write(ends[1], &id, sizeof id);
                ::close(ends[1]);
                for (;;) ::pause();
            } catch (std::exception const& error) {
                std::fprintf(stderr, "%s\n", error.what());
            }
            ::_exit(1);
        }
        ::close(ends[1]);
        pid_t server = 0;
        EXPECT_EQ(::read(ends[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
        ::close(ends[0]);
        return {pid, server};
    }

    TemporaryFolder folder;
};

/// Also false for one that has ended and that nobody has waited for yet.
bool is_running(pid_t process) {
    std::ifstream in{"/proc/" + std::to_string(process) + "/stat"};
    std::string const text{std::istreambuf_iterator<char>{in}, {}};
    auto const name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

TEST_F(Embedded, KeepsItsDataAndItsSocketPrivate) {
    pid_t pid = 0;
    {
        redis::EmbeddedRedis server{options()};
        pid = server.pid();
        EXPECT_FALSE(server.ended());
        auto const core = connect_to(server.url().to_string());
        execute(*core, "SET", {"k", "v"}).value();
        EXPECT_EQ(execute(*core, "CONFIG", {"GET", "appendonly"}).value()[0][1].text(), "yes");
        EXPECT_EQ(execute(*core, "CONFIG", {"GET", "port"}).value()[0][1].text(), "0");
        EXPECT_EQ(redis::why_unsafe(folder.path() / "run"), std::nullopt);
        EXPECT_EQ(redis::why_unsafe(folder.path() / "data"), std::nullopt);
        EXPECT_EQ(fs::status(options().socket).permissions(), fs::perms::owner_all);
    }
    EXPECT_FALSE(is_running(pid));
    redis::EmbeddedRedis again{options()};
    auto const core = connect_to(again.url().to_string());
    EXPECT_EQ(execute(*core, "GET", {"k"}).value()[0].text(), "v");
}

TEST_F(Embedded, PathsMayHoldAnything) {
    auto const odd = options("da ta \"'\\ #é\n");
    redis::EmbeddedRedis const server{odd};
    EXPECT_TRUE(fs::exists(odd.data / "appendonlydir"));
}

TEST_F(Embedded, TellsWhenTheServerEnds) {
    redis::EmbeddedRedis server{options()};
    pollfd end{server.end_descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 0), 0);
    ::kill(server.pid(), SIGKILL);
    EXPECT_EQ(::poll(&end, 1, 5'000), 1);
    EXPECT_EQ(server.ended(), "signal 9");
    server.stop();
}

TEST_F(Embedded, EndsWithItsParent) {
    auto const host = host_process();
    ASSERT_TRUE(is_running(host.server));
    ::kill(host.pid, SIGKILL);
    ::waitpid(host.pid, nullptr, 0);
    EXPECT_TRUE(eventually([&] { return !is_running(host.server); }));
}

TEST_F(Embedded, SecondOneIsRefusedUntilTheFirstIsGone) {
    auto const host = host_process();
    ASSERT_TRUE(is_running(host.server));
    expect_refused<std::runtime_error>(
        options(), {"data directory", (folder.path() / "data").string(), "in use",
                    "process " + std::to_string(host.pid)});
    expect_refused<std::runtime_error>(options("other"), {"socket", "redis.sock", "in use",
                                                          "process " + std::to_string(host.pid)});
    // The next one waits for the server that is still shutting down.
    ::kill(host.pid, SIGKILL);
    ::waitpid(host.pid, nullptr, 0);
    redis::EmbeddedRedis const next{options()};
    EXPECT_FALSE(is_running(host.server));
}

TEST_F(Embedded, TerminalSignalsDoNotReachTheServer) {
    redis::EmbeddedRedis server{options()};
    EXPECT_NE(::getpgid(server.pid()), ::getpgid(0));
}

TEST_F(Embedded, ServerInheritsNothingButTheLocks) {
    int const secret = ::open("/dev/null", O_RDONLY);
    ASSERT_GE(secret, 0);
    redis::EmbeddedRedis server{options()};
    for (auto const& entry :
         fs::directory_iterator{"/proc/" + std::to_string(server.pid()) + "/fd"}) {
        std::error_code gone;
        auto const target = fs::read_symlink(entry.path(), gone).string();
        EXPECT_FALSE(target == "/dev/null") << entry.path();
    }
    ::close(secret);
    std::ifstream status{"/proc/" + std::to_string(server.pid()) + "/status"};
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigBlk:")) continue;
        EXPECT_EQ(std::stoull(line.substr(8), nullptr, 16), 0u);
    }
}

TEST_F(Embedded, StaleSocketIsReplacedAndNothingElse) {
    fs::create_directory(folder.path() / "run");
    fs::permissions(folder.path() / "run", fs::perms::owner_all);
    std::ofstream{options().socket} << "not a socket";
    expect_refused<std::runtime_error>(options(), {"redis.sock", "something else"});
    EXPECT_TRUE(fs::is_regular_file(options().socket));
}

TEST_F(Embedded, BadDataDirectoriesAreNamed) {
    std::ofstream{folder.path() / "file"} << "x";
    auto const file = (folder.path() / "file").string();
    expect_refused<std::invalid_argument>(options("file"),
                                          {"data directory \"" + file, "not a directory"});
    expect_refused<std::invalid_argument>(options("file/below"),
                                          {"data directory", "file/below", "not a directory"});
    auto none = options();
    none.data.clear();
    expect_refused<std::invalid_argument>(none, {"data directory", "must not be empty"});
    expect_refused<std::invalid_argument>(options("data", "run/" + std::string(100, 'x')),
                                          {"socket", "107 bytes"});
    fs::create_directory(folder.path() / "broken");
    fs::create_directory(folder.path() / "broken" / "appendonlydir");
    std::ofstream{folder.path() / "broken" / "appendonlydir" / "appendonly.aof.manifest"}
        << "nonsense\n";
    expect_refused<std::runtime_error>(options("broken"),
                                       {"data directory", "broken", "AOF", "exit code 1"});
}

TEST_F(Embedded, ReadOnlyDirectoryIsNamed) {
    if (::geteuid() == 0) {
        // The superuser may write anywhere but where nobody can.
        auto proc = options();
        proc.data = "/proc/rollcall";
        expect_refused<std::invalid_argument>(proc, {"data directory \"/proc/rollcall\""});
        proc.data = "/proc";
        expect_refused<std::invalid_argument>(proc, {"data directory \"/proc\""});
        return;
    }
    auto const closed = folder.path() / "closed";
    fs::create_directory(closed);
    fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
    expect_refused<std::invalid_argument>(options("closed"), {"closed", "Permission denied"});
    expect_refused<std::invalid_argument>(options("closed/below"), {"below", "Permission denied"});
}

TEST_F(Embedded, FullDirectoryIsNamed) {
    auto const full = folder.path() / "full";
    fs::create_directory(full);
    if (::mount("none", full.c_str(), "tmpfs", 0, "size=4096,mode=0700") != 0) {
        GTEST_SKIP() << "only a user who may mount can make a full file system";
    }
    std::ofstream{full / "filler"} << std::string(8'192, 'x');
    expect_refused<std::invalid_argument>(options("full"),
                                          {"data directory", "full", "No space left"});
    ::umount(full.c_str());
}

TEST_F(Embedded, DirectoryThatOthersMayWriteToIsRefused) {
    auto const open = folder.path() / "open";
    auto const victim = folder.path() / "victim";
    fs::create_directory(open);
    std::ofstream{victim} << "mine";
    fs::create_symlink(victim, open / "redis.log");
    for (auto const mode : {0777u, 0770u, 0702u}) {
        ::chmod(open.c_str(), mode);
        expect_refused<std::invalid_argument>(options("open"),
                                              {"open", "must not be writable by others", "chmod"});
    }
    ::chmod(open.c_str(), 0755);
    expect_refused<std::invalid_argument>(options("open"), {"redis.log must be a regular file"});
    EXPECT_EQ(fs::file_size(victim), 4u) << "nothing was written through the link";
    fs::remove(open / "redis.log");
    EXPECT_NO_THROW(redis::EmbeddedRedis{options("open")});
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(open.c_str(), 12'345, 12'345), 0);
    expect_refused<std::invalid_argument>(options("open"), {"must not belong to another user"});
}

TEST_F(Embedded, FilesAreForThisUserOnly) {
    auto const before = ::umask(0);
    redis::EmbeddedRedis const server{options()};
    ::umask(before);
    for (auto const& entry : fs::recursive_directory_iterator{folder.path() / "data"}) {
        auto const open =
            entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all);
        EXPECT_EQ(open, fs::perms::none) << entry.path();
    }
    EXPECT_TRUE(fs::exists(folder.path() / "data" / "redis.log"));
}

TEST_F(Embedded, MissingServerProgramIsToldWithTheCure) {
    auto const* const set = std::getenv("PATH");
    std::string const before = set ? set : "";
    ::setenv("PATH", folder.path().c_str(), 1);
    expect_refused<std::runtime_error>(options(), {"redis-server is not installed", "install"});
    ::setenv("PATH", before.c_str(), 1);
}

TEST_F(Embedded, WaitsWhileItLoads) {
    redis::RedisProcessOptions process;
    process.socket = folder.path() / "s";
    auto const config = "port 0\nunixsocket " + redis::config_argument(process.socket.native()) +
                        "\ndir " + redis::config_argument(folder.path().native()) + "\nsave \"\"\n";
    process.config = config;
    {
        redis::RedisProcess first{process};
        first.wait_until_ready(20s);
        RedisClient admin{process.socket.string()};
        for (int i = 0; i < 50; ++i) {
            admin.must({"SET", "key" + std::to_string(i), std::string(200, 'x')});
        }
        admin.must({"SAVE"});
    }
    process.config = config + "key-load-delay 10000\nloading-process-events-interval-bytes 1024\n";
    redis::RedisProcess second{process};
    EXPECT_THROW(second.wait_until_ready(100ms), std::runtime_error);
    second.wait_until_ready(20s);
    EXPECT_EQ(RedisClient{process.socket.string()}.must({"DBSIZE"}).integer, 50);
}

}  // namespace
}  // namespace rollcall::test

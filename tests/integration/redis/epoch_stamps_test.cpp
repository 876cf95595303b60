#include "registry/epoch_stamps.hpp"

#include <csignal>

#include "fixture.hpp"
#include "support/log_book.hpp"

namespace rollcall::test {
namespace {

/// Who writes something of its own, and has the data have an epoch.
class EpochStamping : public testing::Test {
protected:
    void start(std::string url) {
        core = connect_to(std::move(url), log.callback());
        stamps = std::make_unique<EpochStamps>(*core);
    }
    void TearDown() override {
        if (core) on_io_thread(*core, [&] { return stamps = nullptr, true; });
    }

    static Task<Result<void>> write_one(redis::ClientCore& core, EpochStamps& stamps) {
        stamps.before_write("epoch");
        redis::Request request;
        redis::Response replies;
        request.push("INCR", {"writes"});
        co_return co_await core.session().exec(request, replies, core.deadline());
    }
    void write() {
        core->run([&] { return write_one(*core, *stamps); }).value();
    }
    void doubt() {
        on_io_thread(*core, [&] { return stamps->doubt("epoch"), true; });
    }
    std::string epoch() { return RedisClient{server}.must({"GET", "epoch"}).text; }
    /// Calls of SET; all that were sent before have been carried out.
    long long assertions() {
        execute(*core, "PING").value();
        RedisClient admin{server};
        return command_stat(admin, "set", "calls") + command_stat(admin, "set", "rejected_calls");
    }

    RedisServer server;
    LogBook log;
    Core core;
    std::unique_ptr<EpochStamps> stamps;
};

TEST_F(EpochStamping, GoesAlongWithTheFirstWritingOfEachConnection) {
    start(server.url());
    write();
    auto const first = epoch();
    EXPECT_EQ(first.size(), 32u);
    EXPECT_EQ(first.find_first_not_of("0123456789abcdef"), std::string::npos) << first;
    for (int i = 0; i < 100; ++i) write();
    EXPECT_EQ(assertions(), 1);
    RedisClient{server}.must({"FLUSHALL"});
    RedisClient{server}.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    ASSERT_TRUE(eventually([&] { return write(), !epoch().empty(); }));
    EXPECT_NE(epoch(), first);
}

TEST_F(EpochStamping, LeavesAnEpochThatIsThere) {
    RedisClient{server}.must({"SET", "epoch", "e"});
    start(server.url());
    write();
    EXPECT_EQ(epoch(), "e");
}

TEST_F(EpochStamping, ComesBeforeWhatIsWrittenAfterADoubt) {
    start(server.url());
    write();
    RedisClient{server}.must({"FLUSHALL"});
    write();
    EXPECT_EQ(epoch(), "") << "nobody doubted it";
    doubt();
    // Both in one step, the epoch first: who sees the one sees the other.
    write();
    EXPECT_NE(epoch(), "");
    EXPECT_EQ(assertions(), 2);
}

TEST_F(EpochStamping, WaitsWithWhatIsWrittenForRedis) {
    server.kill();
    start(server.url());
    doubt();
    for (int i = 0; i < 3; ++i) {
        on_io_thread(*core, [&] { return stamps->before_write("epoch"), true; });
    }
    server.start();
    ASSERT_TRUE(eventually([&] { return !epoch().empty(); }));
    EXPECT_EQ(assertions(), 1) << "one for all that waited";
}

TEST_F(EpochStamping, WhoMayNotWriteItGoesOnWithOneWarning) {
    RedisClient admin{server};
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~writes", "+@all"});
    start("unix://ann:pw@" + server.socket());
    write();
    doubt();
    write();
    EXPECT_EQ(assertions(), 1) << "a refusal is not asked for again and again";
    admin.must({"CLIENT", "KILL", "USER", "ann"});
    ASSERT_TRUE(eventually([&] { return write(), assertions() == 2; }));
    EXPECT_EQ(log.count("writing the epoch"), 1u);
    EXPECT_EQ(epoch(), "");
}

TEST_F(EpochStamping, MayEndWhileItIsOnItsWay) {
    start(server.url());
    write();
    server.signal(SIGSTOP);
    on_io_thread(*core, [&] { return stamps->before_write("another"), stamps = nullptr, true; });
    server.signal(SIGCONT);
    EXPECT_TRUE(
        eventually([&] { return !RedisClient{server}.must({"GET", "another"}).text.empty(); }));
}

}  // namespace
}  // namespace rollcall::test

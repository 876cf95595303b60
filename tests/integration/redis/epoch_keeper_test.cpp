#include "registry/announce/epoch_keeper.hpp"

#include <filesystem>

#include "fixture.hpp"
#include "support/log_book.hpp"

namespace rollcall::test {
namespace {

using announce::EpochKeeper;
using Number = std::optional<GenerationNumber>;

/// A keeper that asserts at each doubt.
class EpochKeeping : public testing::Test {
protected:
    void start(std::string url) {
        core = connect_to(std::move(url), log.callback());
        keeper = std::make_unique<EpochKeeper>(*core, "epoch", [this] { ++doubts; });
        on_io_thread(*core, [&] {
            keeper->start();
            return true;
        });
    }
    void TearDown() override {
        if (!core) return;
        on_io_thread(*core, [&] {
            keeper->stop();
            return true;
        });
    }
    Number asserted() {
        return core->run([&] { return keeper->assert_epoch(core->deadline()); }).value();
    }
    bool doubted(int times) {
        return eventually([&] { return doubts >= times; });
    }
    std::string epoch() { return RedisClient{server}.must({"GET", "epoch"}).text; }

    RedisServer server{{"enable-debug-command yes"}};
    LogBook log;
    std::atomic<int> doubts = 0;
    Core core;
    std::unique_ptr<EpochKeeper> keeper;
};

TEST_F(EpochKeeping, WritesOnceAndNumbersWhatItReads) {
    start(server.url());
    auto const first = asserted();
    ASSERT_TRUE(first);
    auto const text = epoch();
    EXPECT_EQ(text.size(), 32u);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << text;
    EXPECT_EQ(asserted(), first);
    EXPECT_EQ(epoch(), text) << "what is there stays";
    RedisClient{server}.must({"FLUSHALL"});
    auto const second = asserted();
    ASSERT_TRUE(second);
    EXPECT_NE(second, first);
    EXPECT_NE(epoch(), text);
    RedisClient{server}.must({"DEBUG", "CHANGE-REPL-ID"});
    EXPECT_NE(asserted(), second);
}

TEST_F(EpochKeeping, DoubtsEachConnectionAndEachChange) {
    start(server.url());
    ASSERT_TRUE(doubted(1)) << "the first connection";
    asserted();
    ASSERT_TRUE(doubted(2)) << "its own writing may be another's";
    RedisClient{server}.must({"FLUSHALL"});
    ASSERT_TRUE(doubted(3));
    RedisClient{server}.must({"FLUSHDB"});
    asserted();
    int const before = doubts;
    RedisClient{server}.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    RedisClient{server}.must({"FLUSHALL"});
    ASSERT_TRUE(doubted(before + 1)) << "with nobody to tell of the flush";
}

TEST_F(EpochKeeping, DoubtsAServerThatComesLaterAndAgain) {
    server.kill();
    std::filesystem::remove(server.socket());
    start(server.url());
    for (int round = 1; round <= 3; ++round) {
        int const before = doubts;
        server.start();
        ASSERT_TRUE(doubted(before + 1)) << round;
        ASSERT_TRUE(asserted());
        server.kill();
    }
}

TEST_F(EpochKeeping, WhereItMayNotWriteItReadsWithOneWarning) {
    RedisClient admin{server};
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "%R~*", "+@all"});
    start("unix://ann:pw@" + server.socket());
    EXPECT_EQ(asserted(), Number{});
    EXPECT_EQ(asserted(), Number{});
    EXPECT_EQ(log.count("writing the epoch"), 1u);
    admin.must({"SET", "epoch", "e"});
    EXPECT_TRUE(asserted());
}

}  // namespace
}  // namespace rollcall::test

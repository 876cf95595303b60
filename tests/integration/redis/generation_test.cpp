#include "registry/generation.hpp"

#include "fixture.hpp"

namespace rollcall::test {
namespace {

class GenerationOfRedis : public testing::Test {
protected:
    GenerationRead read(redis::ClientCore& core) {
        return core.run([&] { return read_generation(core.session(), "epoch", core.deadline()); })
            .value();
    }

    RedisServer server{{"enable-debug-command yes"}};
};

TEST_F(GenerationOfRedis, LastsAsLongAsTheDataAndTheServer) {
    auto const core = connect_to(server.url());
    EXPECT_FALSE(read(*core).generation) << "no epoch yet";
    RedisClient{server}.must({"SET", "epoch", "e1"});
    auto const first = read(*core);
    ASSERT_TRUE(first.generation);
    EXPECT_EQ(first.generation->run_id.size(), 40u);
    EXPECT_EQ(first.generation->master_replid.size(), 40u);
    EXPECT_EQ(first.generation->epoch, "e1");
    EXPECT_TRUE(first.same_connection(read(*core)));

    RedisClient{server}.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    auto const later = read(*core);
    EXPECT_EQ(later.generation, first.generation);
    EXPECT_FALSE(later.same_connection(first));

    server.kill();
    server.start();
    EXPECT_FALSE(read(*core).generation);
    RedisClient{server}.must({"SET", "epoch", "e1"});
    auto const restarted = read(*core);
    ASSERT_TRUE(restarted.generation);
    EXPECT_NE(restarted.generation, first.generation);
    EXPECT_NE(restarted.generation->run_id, first.generation->run_id);
    EXPECT_FALSE(restarted.same_connection(first));
}

TEST_F(GenerationOfRedis, ChangesWithANewHistory) {
    RedisClient admin{server};
    admin.must({"SET", "epoch", "e1"});
    auto const core = connect_to(server.url());
    auto const before = read(*core);
    admin.must({"DEBUG", "CHANGE-REPL-ID"});
    auto const after_it = read(*core);
    EXPECT_NE(after_it.generation, before.generation);
    EXPECT_EQ(after_it.generation->run_id, before.generation->run_id);
}

TEST_F(GenerationOfRedis, IsThatOfTheConnectionWhereInfoIsRefused) {
    RedisClient admin{server};
    admin.must({"SET", "epoch", "e1"});
    admin.must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "-info"});
    auto const core = connect_to("unix://ann:pw@" + server.socket());
    auto const first = read(*core);
    ASSERT_TRUE(first.generation);
    EXPECT_EQ(read(*core).generation, first.generation);
    admin.must({"CLIENT", "KILL", "USER", "ann"});
    auto const second = read(*core);
    ASSERT_TRUE(second.generation);
    EXPECT_NE(second.generation, first.generation);

    admin.must({"ACL", "SETUSER", "ann", "-client|id"});
    EXPECT_EQ(read(*core).client_id, 0);
    EXPECT_TRUE(read(*core).same_connection(read(*core)));
    admin.must({"ACL", "SETUSER", "ann", "-get"});
    EXPECT_FALSE(read(*core).generation) << "no right to the epoch";
}

}  // namespace
}  // namespace rollcall::test

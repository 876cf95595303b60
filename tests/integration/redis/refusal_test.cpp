#include <filesystem>
#include <fstream>
#include <mutex>

#include "fixture.hpp"

#include "rollcall/client.hpp"

namespace rollcall::test {
namespace {

redis::SessionOptions asking_often() {
    redis::SessionOptions options;
    options.ping_interval = 20ms;
    options.patience = 2'000ms;
    return options;
}

class Refusal : public testing::Test {
protected:
    static void expect_unavailable(redis::ClientCore& core, std::string_view reason) {
        auto const response = execute(core, "SET", {"k", "v"});
        ASSERT_TRUE(response) << response.error().detail();
        ASSERT_TRUE(response.value()[0].is_error());
        auto const failure = redis::failure_of(response.value()[0], "SET");
        EXPECT_EQ(failure.code(), errc::unavailable);
        EXPECT_TRUE(is_transient(failure.code()));
        EXPECT_NE(failure.detail().find(reason), std::string::npos) << failure.detail();
    }

    RedisServer server;
};

TEST_F(Refusal, LoadingIsNeitherFatalNorADeadConnection) {
    {
        RedisClient admin{server};
        for (int i = 0; i < 400; ++i) {
            admin.must({"SET", "key" + std::to_string(i), std::string(200, 'x')});
        }
        admin.must({"SAVE"});
    }
    auto const core = connect_to(server.url(), {}, asking_often());
    execute(*core, "PING").value();
    server.kill();
    server.launch({"key-load-delay 5000", "loading-process-events-interval-bytes 1024"});

    EXPECT_TRUE(eventually([&] {
        auto const response = execute(*core, "GET", {"key0"}, 100ms);
        return response && response.value()[0].text().starts_with("LOADING");
    }));
    expect_unavailable(*core, "LOADING");
    ClientOptions options;
    options.url = server.url();
    Client client{options};
    std::error_code error;
    EXPECT_TRUE(eventually([&] {
        client.wait_until_ready(200ms, error);
        return error == errc::unavailable;
    })) << error.message();

    RedisClient admin{server};
    EXPECT_TRUE(eventually([&] { return command_stat(admin, "ping", "rejected_calls") >= 5; }));
    EXPECT_TRUE(client.wait_until_ready(20s, error)) << error.message();
    EXPECT_EQ(execute(*core, "GET", {"key399"}).value()[0].text(), std::string(200, 'x'));
    // Ours, the client's, this one, and nothing made again because of a refused PING.
    EXPECT_LE(info_number(admin, "stats", "total_connections_received"), 3);
}

TEST_F(Refusal, MisconfRefusesWritesAndPingOnly) {
    RedisClient admin{server};
    auto const core = connect_to(server.url(), {}, asking_often());
    execute(*core, "SET", {"before", "v"}).value();
    auto const obstacle = server.folder() / "dump.rdb";
    std::filesystem::create_directory(obstacle);
    std::ofstream{obstacle / "file"} << "x";
    admin.must({"CONFIG", "SET", "save", "3600 1"});
    admin.must({"BGSAVE"});
    EXPECT_TRUE(eventually([&] {
        return admin.must({"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") !=
               std::string::npos;
    }));
    auto const connections = info_number(admin, "stats", "total_connections_received");
    auto const refused = command_stat(admin, "ping", "rejected_calls");

    expect_unavailable(*core, "MISCONF");
    EXPECT_EQ(execute(*core, "GET", {"before"}).value()[0].text(), "v");
    EXPECT_TRUE(
        eventually([&] { return command_stat(admin, "ping", "rejected_calls") >= refused + 8; }));
    EXPECT_EQ(info_number(admin, "stats", "total_connections_received"), connections);

    std::filesystem::remove_all(obstacle);
    EXPECT_TRUE(eventually([&] {
        admin.command({"BGSAVE"});
        return !execute(*core, "SET", {"after", "v"}).value()[0].is_error();
    }));
    EXPECT_EQ(info_number(admin, "stats", "total_connections_received"), connections);
}

TEST_F(Refusal, OutOfMemoryIsOverload) {
    RedisClient admin{server};
    auto const core = connect_to(server.url());
    admin.must({"CONFIG", "SET", "maxmemory", "1"});
    auto const response = execute(*core, "SET", {"k", "v"}).value();
    EXPECT_EQ(redis::failure_of(response[0], "SET").code(), errc::overloaded);
}

TEST_F(Refusal, TooManyClientsIsWaitedOut) {
    RedisClient admin{server};
    admin.must({"CONFIG", "SET", "maxclients", "1"});
    auto const core = connect_to(server.url());
    EXPECT_TRUE(eventually([&] {
        return last_error(*core).find("max number of clients") != std::string::npos;
    })) << last_error(*core);
    EXPECT_EQ(execute(*core, "PING", {}, 50ms).error().code(), errc::not_connected);
    admin.must({"CONFIG", "SET", "maxclients", "100"});
    EXPECT_TRUE(execute(*core, "PING", {}, 20s));
}

}  // namespace
}  // namespace rollcall::test

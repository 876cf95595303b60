#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "fixture.hpp"
#include "support/log_book.hpp"

namespace rollcall::test {
namespace {

redis::SessionOptions impatient() {
    redis::SessionOptions options;
    options.ping_interval = 50ms;
    options.patience = 150ms;
    options.connect_limit = 300ms;
    return options;
}

TEST(Reconnect, ServerMayComeLater) {
    RedisServer server;
    server.kill();
    std::filesystem::remove(server.socket());
    auto const core = connect_to(server.url());
    EXPECT_TRUE(eventually([&] { return !last_error(*core).empty(); }));
    auto waiting = std::async(std::launch::async, [&] { return execute(*core, "PING", {}, 20s); });
    server.start();
    EXPECT_EQ(waiting.get().value()[0].text(), "PONG");
    EXPECT_EQ(last_error(*core), "");
}

TEST(Reconnect, SurvivesKillAndRestart) {
    RedisServer server;
    auto const core = connect_to(server.url());
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(execute(*core, "INCR", {"k"}).value()[0].integer(), 1);
        server.kill();
        auto waiting =
            std::async(std::launch::async, [&] { return execute(*core, "PING", {}, 20s); });
        EXPECT_TRUE(eventually([&] { return !is_connected(*core); }));
        server.start();
        EXPECT_TRUE(waiting.get());
    }
}

TEST(Reconnect, TellsWhyWhileItIsAway) {
    RedisServer server;
    std::mutex mutex;
    std::vector<std::string> messages;
    auto const core = connect_to(server.url(), [&](LogLevel level, std::string_view text) {
        std::lock_guard const lock{mutex};
        if (level == LogLevel::warning) messages.emplace_back(text);
    });
    execute(*core, "PING").value();
    server.kill();
    EXPECT_TRUE(eventually([&] { return last_error(*core) == "Connection refused"; }))
        << last_error(*core);
    auto const outcome = execute(*core, "PING", {}, 1ms);
    EXPECT_EQ(outcome.error().code(), errc::not_connected);
    EXPECT_EQ(outcome.error().detail(), server.url() + ": Connection refused");
    std::lock_guard const lock{mutex};
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_TRUE(messages[0].starts_with("lost the connection to " + server.url() + ", "));
    EXPECT_EQ(messages[1],
              "cannot connect to " + server.url() + ", will keep trying: Connection refused");
}

TEST(Reconnect, TellsEachRecovery) {
    RedisServer server;
    std::mutex mutex;
    std::string last;
    auto const core = connect_to(server.url(), [&](LogLevel, std::string_view text) {
        std::lock_guard const lock{mutex};
        last = text;
    });
    auto const tells = [&](std::string const& text) {
        auto const told = [&] {
            std::lock_guard const lock{mutex};
            return last.starts_with(text);
        };
        return eventually(told, 15s);  // A relapse is told late.
    };
    for (int round = 0; round < 2; ++round) {
        EXPECT_TRUE(tells("connected to ")) << round << ": " << last;
        server.kill();
        EXPECT_TRUE(tells("cannot connect to ")) << round << ": " << last;
        server.start();
    }
    EXPECT_TRUE(tells("connected to ")) << last;
}

class WithBrokenConnection : public WithRedis {
protected:
    /// The outcome of INCR whose connection is cut after Redis got it and before it executed it.
    Result<redis::Response> cut_in_between(redis::ClientCore& core, bool idempotent) {
        execute(core, "PING").value();
        admin.must({"CLIENT", "PAUSE", "10000", "WRITE"});
        auto waiting = std::async(std::launch::async, [&core, idempotent] {
            return execute(core, "INCR", {"k"}, 10s, idempotent);
        });
        EXPECT_TRUE(
            eventually([&] { return info_number(admin, "clients", "blocked_clients") == 1; }));
        admin.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        if (!idempotent) {
            EXPECT_EQ(waiting.wait_for(3s), std::future_status::ready) << "it waits for nothing";
        }
        admin.must({"CLIENT", "UNPAUSE"});
        return waiting.get();
    }
};

TEST_F(WithBrokenConnection, RepeatableRequestIsSentAgain) {
    auto const core = connect_to(server().url());
    EXPECT_EQ(cut_in_between(*core, true).value()[0].integer(), 1);
    EXPECT_EQ(admin.must({"GET", "k"}).text, "1");
}

TEST_F(WithBrokenConnection, OtherRequestIsNotSentTwice) {
    auto const core = connect_to(server().url());
    auto const outcome = cut_in_between(*core, false);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), errc::timeout);
    execute(*core, "PING").value();
    EXPECT_EQ(admin.must({"EXISTS", "k"}).integer, 0);
}

TEST(Reconnect, GivesUpASilentServerAndFindsItAgain) {
    RedisServer server;
    auto const core = connect_to(server.url(), {}, impatient());
    execute(*core, "PING").value();
    server.signal(SIGSTOP);
    EXPECT_TRUE(eventually([&] { return !is_connected(*core); }, 3s));
    EXPECT_TRUE(
        eventually([&] { return last_error(*core) == "connected, but no answer to HELLO"; }, 3s))
        << last_error(*core);
    EXPECT_EQ(execute(*core, "PING", {}, 50ms).error().code(), errc::not_connected);
    server.signal(SIGCONT);
    EXPECT_TRUE(execute(*core, "PING", {}, 10s));
}

TEST(Reconnect, DeadConnectionIsNoticedWithinASecond) {
    RedisServer server;
    auto const core = connect_to(server.url());
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(eventually([&] { return is_connected(*core); }));
        execute(*core, "PING").value();
        server.signal(SIGSTOP);
        auto const took = time_of([&] { eventually([&] { return !is_connected(*core); }, 5s); });
        server.signal(SIGCONT);
        EXPECT_LE(took, 1s + tolerated_overshoot);
    }
}

TEST(Reconnect, WhatIsGivenUpIsToldAsLost) {
    RedisServer server;
    LogBook log;
    auto const core = connect_to(server.url(), log.callback(), impatient());
    execute(*core, "PING").value();
    server.signal(SIGSTOP);
    EXPECT_TRUE(eventually([&] { return log.has("the server is silent"); }));
    server.signal(SIGCONT);
    EXPECT_TRUE(log.has("lost the connection to " + server.url()));
}

TEST(Reconnect, BusyOrIdleConnectionIsNotTakenForSilent) {
    RedisServer server;
    RedisClient admin{server};
    auto const core = connect_to(server.url(), {}, impatient());
    auto const id = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    auto const end = after(600ms);
    while (std::chrono::steady_clock::now() < end) execute(*core, "ECHO", {"x"}).value();
    auto const asked = command_stat(admin, "ping", "calls");
    EXPECT_LE(asked, 2);
    EXPECT_TRUE(eventually([&] { return command_stat(admin, "ping", "calls") >= asked + 8; }));
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), id);
}

struct Load {
    std::atomic<bool> stop{false};
    std::size_t answered = 0;
    std::size_t wrong = 0;
};

Task<void> echo_until_stopped(redis::Session& session, std::size_t which, Load& load) {
    redis::Request request;
    redis::Response response;
    for (std::size_t i = 0; !load.stop; ++i) {
        auto const text = std::to_string(which) + ":" + std::to_string(i);
        request.clear();
        request.push("ECHO", {text});
        request.push("ECHO", {text});
        auto const outcome = co_await session.exec(request, response, after(30s));
        bool const right = outcome && response.size() == 2 && response[0].text() == text &&
                           response[1].text() == text;
        ++(right ? load.answered : load.wrong);
    }
}

TEST(Reconnect, LoadIsCarriedOverEveryBreak) {
    RedisServer server;
    ClientOptions options;
    options.url = server.url();
    options.max_in_flight = 50;
    auto const core = redis::ClientCore::create(options);
    Load load;
    auto running = std::async(std::launch::async, [&] {
        run_together(*core, 200,
                     [&](std::size_t i) { return echo_until_stopped(core->session(), i, load); });
    });
    auto const answered = [&] { return on_io_thread(*core, [&] { return load.answered; }); };
    for (int round = 0; round < 20; ++round) {
        auto const before = answered();
        EXPECT_TRUE(eventually([&] { return answered() > before + 100; })) << round;
        if (round % 10 == 9) {
            server.kill();
            server.start();
        } else {
            RedisClient{server}.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        }
    }
    load.stop = true;
    running.get();
    EXPECT_EQ(load.wrong, 0u);
}

struct BoundSocket {
    int descriptor;
    int port;
};

BoundSocket bind_anywhere() {
    int const descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(descriptor, generic, size) != 0 || ::getsockname(descriptor, generic, &size) != 0) {
        throw std::runtime_error{"no port on the loopback address"};
    }
    return {descriptor, ntohs(address.sin_port)};
}

int free_port() {
    auto const [descriptor, port] = bind_anywhere();
    ::close(descriptor);
    return port;
}

TEST(Reconnect, WorksOverTcp) {
    auto const port = std::to_string(free_port());
    RedisServer server{{"port " + port, "bind 127.0.0.1"}};
    for (auto const* host : {"127.0.0.1", "localhost"}) {
        auto const core = connect_to(std::string{"redis://"} + host + ":" + port);
        EXPECT_EQ(execute(*core, "PING").value()[0].text(), "PONG");
        EXPECT_EQ(on_io_thread(*core, [&] { return core->session().local_address(); }),
                  "127.0.0.1");
        server.kill();
        EXPECT_TRUE(eventually([&] { return last_error(*core) == "Connection refused"; }))
            << last_error(*core);
        EXPECT_EQ(on_io_thread(*core, [&] { return core->session().local_address(); }), "");
        server.start();
        EXPECT_TRUE(execute(*core, "PING"));
    }
}

TEST(Reconnect, UnknownHostIsTold) {
    auto const core = connect_to("redis://no-such-host.invalid:1");
    EXPECT_TRUE(eventually([&] { return last_error(*core).find("Host not found") == 0; }))
        << last_error(*core);
}

/// Something that accepts and answers whatever is in `reply`, once for each connection.
class Impostor {
public:
    explicit Impostor(std::string reply) : reply_(std::move(reply)), listener_(bind_anywhere()) {
        ::listen(listener_.descriptor, 8);
        thread_ = std::thread{[this] { serve(); }};
    }
    ~Impostor() {
        ::shutdown(listener_.descriptor, SHUT_RDWR);
        thread_.join();
        ::close(listener_.descriptor);
    }

    std::string url() const { return "redis://127.0.0.1:" + std::to_string(listener_.port); }

private:
    void serve() {
        for (;;) {
            int const peer = ::accept(listener_.descriptor, nullptr, nullptr);
            if (peer < 0) return;
            char buffer[512];
            if (::recv(peer, buffer, sizeof buffer, 0) > 0) {
                ::send(peer, reply_.data(), reply_.size(), MSG_NOSIGNAL);
                ::shutdown(peer, SHUT_WR);
                while (::recv(peer, buffer, sizeof buffer, 0) > 0) {
                }
            }
            ::close(peer);
        }
    }

    std::string reply_;
    BoundSocket listener_;
    std::thread thread_;
};

TEST(Reconnect, WhatIsNoRedisIsSurvived) {
    for (std::string const reply :
         {"HTTP/1.1 400 Bad Request\r\n\r\n", "", "*1\r\n", "$99999999999999999999999\r\n",
          "%-1\r\n", "-ERR max number of clients reached\r\n", ">3\r\n+a\r\n+b\r\n+c\r\n",
          "*1000000000\r\n:1\r\n"}) {
        Impostor const impostor{reply};
        auto const core = connect_to(impostor.url());
        auto const outcome = execute(*core, "PING", {}, 200ms);
        ASSERT_FALSE(outcome) << reply;
        EXPECT_EQ(outcome.error().code(), errc::not_connected) << reply;
        EXPECT_NE(last_error(*core), "") << reply;
    }
}

}  // namespace
}  // namespace rollcall::test

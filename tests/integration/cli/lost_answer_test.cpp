// A connection that breaks between a write and its answer.

#include <atomic>
#include <boost/json/object.hpp>
#include <cstring>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

/// Stands before a Redis and closes the connection instead of handing on its first answer to a
/// script.
class AnswerLoser {
public:
    AnswerLoser(std::string socket, std::string redis)
        : socket_(std::move(socket)), redis_(std::move(redis)) {
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto const address = address_of(socket_);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr const*>(&address), sizeof address),
                  0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        thread_ = std::thread{[this] { serve(); }};
    }
    ~AnswerLoser() {
        stop_ = true;
        thread_.join();
        ::close(listener_);
    }
    AnswerLoser(AnswerLoser const&) = delete;
    AnswerLoser& operator=(AnswerLoser const&) = delete;

    std::string url() const { return "unix://" + socket_; }
    bool has_lost() const { return lost_; }

private:
    static sockaddr_un address_of(std::string const& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        return address;
    }

    static bool readable(int descriptor) {
        pollfd ready{descriptor, POLLIN, 0};
        return ::poll(&ready, 1, 5) == 1;
    }

    void serve() {
        while (!stop_) {
            if (!readable(listener_)) continue;
            auto const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            auto const server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            auto const address = address_of(redis_);
            (void)::connect(server, reinterpret_cast<sockaddr const*>(&address), sizeof address);
            while (!stop_ && relay(client, server)) continue;
            ::close(client);
            ::close(server);
        }
    }

    /// False when the connection is over.
    bool relay(int client, int server) {
        char bytes[65'536];
        if (readable(client)) {
            auto const size = ::read(client, bytes, sizeof bytes);
            if (size <= 0) return false;
            std::string_view const text{bytes, static_cast<std::size_t>(size)};
            losing_ = !lost_ && text.find("EVALSHA") != std::string_view::npos;
            (void)!::write(server, bytes, text.size());
        }
        if (!readable(server)) return true;
        auto const size = ::read(server, bytes, sizeof bytes);
        if (size <= 0) return false;
        if (losing_) {
            losing_ = false;
            lost_ = true;
            return false;
        }
        return ::write(client, bytes, static_cast<std::size_t>(size)) == size;
    }

    std::string socket_;
    std::string redis_;
    int listener_ = -1;
    std::atomic<bool> stop_ = false;
    std::atomic<bool> lost_ = false;
    bool losing_ = false;
    std::thread thread_;
};

class LostAnswerTest : public CliTest {
protected:
    LostAnswerTest() {
        // Redis knows the scripts, so that the first call is the one that counts.
        must(registration("z"));
        must({"deregister", "--service", "web", "--id", "z"});
    }

    static Arguments registration(std::string const& id) {
        return {"register", "--service", "web", "--id",     id,    "--host",
                "h",        "--port",    "1",   "--output", "json"};
    }
};

TEST_F(LostAnswerTest, WhatDeregisterDidTheFirstTimeIsDone) {
    must(registration("a"));
    AnswerLoser const loser{(home() / "loser").string(), server().socket()};
    auto const outcome = run({"deregister", "--service", "web", "--id", "a", "--url", loser.url()});
    ASSERT_TRUE(loser.has_lost());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "deregistered a\n");
    EXPECT_EQ(run({"deregister", "--service", "web", "--id", "a", "--url", loser.url()}).code, 3);
}

TEST_F(LostAnswerTest, WhetherRegisterCreatedItIsNotKnown) {
    AnswerLoser const loser{(home() / "loser").string(), server().socket()};
    auto arguments = registration("a");
    arguments.insert(arguments.end(), {"--url", loser.url()});
    auto const outcome = must(arguments);
    ASSERT_TRUE(loser.has_lost());
    EXPECT_TRUE(outcome.json().at("created").is_null()) << outcome.out;
    EXPECT_EQ(count("web"), 1u);
}

}  // namespace
}  // namespace rollcall::test

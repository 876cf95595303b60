// No command outlives its deadline: neither for a silent Redis, nor for a silent name server.

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

/// For starting a process on a busy machine, and for what a sanitizer takes at its end.
constexpr auto tolerance = 700ms;

class CliDeadlineTest : public CliTest {
protected:
    /// Names that end in `.slow` take six seconds.
    void slow_down_names() {
        environment()["LD_PRELOAD"] = ROLLCALL_SLOW_RESOLVER;
        environment()["ASAN_OPTIONS"] = "verify_asan_link_order=0";
        environment()["TSAN_OPTIONS"] = "atexit_sleep_ms=0";  // Else a second, for other threads.
        environment()["ROLLCALL_URL"] = "redis://redis.slow:6379";
    }

    /// Runs it; it must fail with one of the codes for a Redis that does not answer, in time.
    void expect_end_within(std::chrono::milliseconds limit, Arguments const& arguments) {
        auto const begin = std::chrono::steady_clock::now();
        auto const outcome = run(arguments);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, limit + tolerance) << arguments[0];
        EXPECT_THAT(outcome.code, testing::AnyOf(4, 5)) << outcome.err;
    }

    Arguments registration(std::string const& timeout) {
        return {"register", "--service", "web", "--port", "1", "--timeout", timeout};
    }
};

/// A port that accepts, as the kernel does for a listener, and never answers.
class SilentPort {
public:
    SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        EXPECT_TRUE(::bind(socket_, plain, size) == 0 && ::listen(socket_, 16) == 0 &&
                    ::getsockname(socket_, plain, &size) == 0);
        port_ = ntohs(address.sin_port);
    }
    ~SilentPort() { ::close(socket_); }
    SilentPort(SilentPort const&) = delete;
    SilentPort& operator=(SilentPort const&) = delete;

    std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

private:
    int socket_;
    int port_ = 0;
};

TEST_F(CliDeadlineTest, FindingOutTheAddressCounts) {
    SilentPort const silent;
    environment()["ROLLCALL_URL"] = silent.url();
    expect_end_within(1500ms, registration("1500ms"));
}

TEST_F(CliDeadlineTest, ASlowNameServerDoesNotHoldUpARegistration) {
    slow_down_names();
    expect_end_within(500ms, registration("500ms"));
}

TEST_F(CliDeadlineTest, ASlowNameServerDoesNotHoldUpTheEnd) {
    slow_down_names();
    expect_end_within(200ms, {"services", "--timeout", "200ms"});
}

TEST_F(CliDeadlineTest, ASlowNameServerDoesNotHoldUpTheCommandOfRun) {
    slow_down_names();
    Arguments arguments{
        "run",   "--service",       "web", "--port", std::to_string(free_port()), "--timeout",
        "200ms", "--start-timeout", "0"};
    auto const command = child({"show"});
    arguments.insert(arguments.end(), command.begin(), command.end());
    auto const begin = std::chrono::steady_clock::now();
    auto program = start(arguments);
    EXPECT_TRUE(eventually([&] {
        return program.out().find("no url") != std::string::npos ||
               program.out().find("url ") != std::string::npos;
    }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 200ms + tolerance);
}

}  // namespace
}  // namespace rollcall::test

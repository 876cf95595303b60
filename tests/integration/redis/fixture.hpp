#pragma once

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/client_core.hpp"
#include "registry/epoch.hpp"
#include "support/redis_server.hpp"

namespace rollcall::test {

using namespace std::chrono_literals;
using Core = std::shared_ptr<redis::ClientCore>;

inline Core connect_to(std::string url, LogCallback log = {}, redis::SessionOptions session = {}) {
    ClientOptions options;
    options.url = std::move(url);
    options.log = std::move(log);
    return redis::ClientCore::create(std::move(options), std::move(session));
}

/// Sends `request` and waits.
inline Result<redis::Response> execute(redis::ClientCore& core, redis::Request const& request,
                                       std::chrono::milliseconds limit = 5s,
                                       bool idempotent = true) {
    redis::Response response;
    auto const outcome =
        core.run([&] { return core.session().exec(request, response, after(limit), idempotent); });
    if (!outcome) return outcome.error();
    return response;
}

/// Sends one command and waits.
inline Result<redis::Response> execute(redis::ClientCore& core, std::string_view command,
                                       std::vector<std::string_view> const& arguments = {},
                                       std::chrono::milliseconds limit = 5s,
                                       bool idempotent = true) {
    redis::Request request;
    request.push(command, arguments);
    return execute(core, request, limit, idempotent);
}

/// What `ask` finds on the I/O thread.
template <class Ask>
auto on_io_thread(redis::ClientCore& core, Ask ask) {
    std::promise<decltype(ask())> found;
    asio::post(core.io(), [&] { found.set_value(ask()); });
    return found.get_future().get();
}

inline bool is_connected(redis::ClientCore& core) {
    return on_io_thread(core, [&] { return core.session().connected(); });
}

inline std::string last_error(redis::ClientCore& core) {
    return on_io_thread(core, [&] { return core.session().last_error(); });
}

/// Starts `count` coroutines `make(i)` at once and waits until all have ended.
template <class Make>
void run_together(redis::ClientCore& core, std::size_t count, Make make) {
    std::promise<void> all_ended;
    std::size_t running = count;
    asio::post(core.io(), [&] {
        for (std::size_t i = 0; i < count; ++i) {
            asio::co_spawn(core.io().get_executor(), make(i), [&](std::exception_ptr thrown) {
                if (thrown) std::terminate();
                if (--running == 0) all_ended.set_value();
            });
        }
    });
    all_ended.get_future().wait();
}

/// How long `action` took.
template <class Action>
std::chrono::milliseconds time_of(Action action) {
    auto const start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start);
}

/// By how much a call may outlive its deadline: what is promised of an optimised build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
inline constexpr std::chrono::milliseconds tolerated_overshoot{400};
#else
inline constexpr std::chrono::milliseconds tolerated_overshoot{100};
#endif

/// The number that a line `name:…` of INFO has.
inline long long info_number(RedisClient& admin, std::string const& section,
                             std::string const& name) {
    auto const info = "\n" + admin.must({"INFO", section}).text;
    auto const at = info.find("\n" + name + ":");
    return at == std::string::npos ? -1 : std::stoll(info.substr(at + name.size() + 2));
}

/// The number `name=…` of a command in INFO commandstats; 0 when it was never called.
inline long long command_stat(RedisClient& admin, std::string const& command,
                              std::string const& name) {
    auto const info = admin.must({"INFO", "commandstats"}).text;
    auto const line = info.find("cmdstat_" + command + ":");
    if (line == std::string::npos) return 0;
    auto const at = info.find(name + "=", line);
    return std::stoll(info.substr(at + name.size() + 1));
}

/// The names of all keys but the epoch of `prefix`, which everybody writes who registers; sorted.
inline std::vector<std::string> keys_beside_epoch(RedisClient& admin, std::string_view prefix) {
    auto keys = admin.must({"KEYS", "*"}).texts();
    std::erase(keys, epoch_key_of(prefix));
    std::ranges::sort(keys);
    return keys;
}

/// One server for all tests of a suite, empty at the start of each.
class WithRedis : public testing::Test {
protected:
    static void SetUpTestSuite() { shared() = std::make_unique<RedisServer>(); }
    static void TearDownTestSuite() { shared().reset(); }

    void SetUp() override {
        admin.must({"FLUSHALL"});
        admin.must({"SCRIPT", "FLUSH"});
    }

    RedisServer& server() { return *shared(); }

    RedisClient admin{*shared()};

private:
    static std::unique_ptr<RedisServer>& shared() {
        static std::unique_ptr<RedisServer> server;
        return server;
    }
};

}  // namespace rollcall::test

#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/client_core.hpp"
#include "support/redis_server.hpp"

namespace rollcall::test {

using namespace std::chrono_literals;

inline std::shared_ptr<redis::ClientCore> connect_to(std::string url, LogCallback log = {}) {
    ClientOptions options;
    options.url = std::move(url);
    options.log = std::move(log);
    return redis::ClientCore::create(std::move(options));
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
                                       std::vector<std::string_view> const& arguments,
                                       std::chrono::milliseconds limit = 5s,
                                       bool idempotent = true) {
    redis::Request request;
    request.push(command, arguments);
    return execute(core, request, limit, idempotent);
}

/// One server for all tests of a suite, empty at the start of each.
class WithRedis : public testing::Test {
protected:
    static void SetUpTestSuite() { server_ = std::make_unique<RedisServer>(); }
    static void TearDownTestSuite() { server_.reset(); }

    void SetUp() override {
        admin.must({"FLUSHALL"});
        admin.must({"SCRIPT", "FLUSH"});
    }

    RedisServer& server() { return *server_; }

    RedisClient admin{*server_};

private:
    static inline std::unique_ptr<RedisServer> server_;
};

}  // namespace rollcall::test

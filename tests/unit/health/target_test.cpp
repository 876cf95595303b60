#include "health/target.hpp"

#include <gtest/gtest.h>

namespace rollcall::health {
namespace {

using std::chrono::milliseconds;

ServiceInstance at(std::string scheme, std::string host, int port) {
    ServiceInstance instance;
    instance.scheme = std::move(scheme);
    instance.host = std::move(host);
    instance.port = port;
    return instance;
}

TEST(Target, HasTheDocumentedLimits) {
    HealthCheckerOptions const usual;
    EXPECT_EQ(usual.connect_timeout, milliseconds{5000});
    EXPECT_EQ(usual.read_timeout, milliseconds{5000});
    EXPECT_TRUE(usual.tcp_fallback);
    EXPECT_TRUE(usual.verify_certificate);
}

TEST(Target, MendsLimitsThatAreNone) {
    HealthCheckerOptions options;
    options.connect_timeout = milliseconds{0};
    options.read_timeout = milliseconds{-1};
    EXPECT_EQ(within_range(options), HealthCheckerOptions{});
    options.connect_timeout = milliseconds{1};
    options.read_timeout = milliseconds::max();
    EXPECT_EQ(within_range(options).connect_timeout, milliseconds{1});
    EXPECT_EQ(within_range(options).read_timeout, std::chrono::hours{1});
}

TEST(Target, IsTheInstancesOwnAddressWhateverItsMetadataSay) {
    auto instance = at("http", "10.0.0.5", 8080);
    instance.metadata = {{"health", "http://10.9.9.9/"}, {"host", "10.9.9.9"}, {"port", "1"}};
    auto const target = target_of(instance);
    EXPECT_EQ(target.host, "10.0.0.5");
    EXPECT_EQ(target.port, 8080);
    EXPECT_EQ(target.failure, "");
}

TEST(Target, HasTheDefaultPortOfItsProtocol) {
    EXPECT_EQ(target_of(at("https", "a", 0)).port, 443);
    EXPECT_NE(target_of(at("tcp", "a", 0)).failure, "");
}

TEST(Target, ReportsWhatNobodyCanBeReachedAt) {
    for (auto const* const host : {"", "a b", "a/b", "u@a", "a\r\nb", "[::1]", "a:1", "a#"}) {
        EXPECT_NE(target_of(at("http", host, 80)).failure, "") << host;
    }
    EXPECT_NE(target_of(at("http", "a", 65'536)).failure, "");
    EXPECT_EQ(target_of(at("http", "a", 65'535)).failure, "");
}

TEST(Target, AsksEachProtocolAsDocumented) {
    EXPECT_EQ(question_for("http"), Question::http);
    EXPECT_EQ(question_for("HTTPS"), Question::https);
    for (auto const* const scheme : {"tcp", "udp", "ws", "wss", "kcp", "grpc", "grpcs", "dubbo",
                                     "dubbo2", "redis-stream", "redis-pubsub-tls", "other", ""}) {
        EXPECT_EQ(question_for(scheme), Question::connect) << scheme;
    }
}

}  // namespace
}  // namespace rollcall::health

#include "rollcall/streaming/protocol.hpp"

#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string_view>

namespace rollcall::streaming {
namespace {

TEST(StandardProtocol, AreTheDesignsEleven) {
    ASSERT_EQ(standard_protocols().size(), 11u);
    EXPECT_EQ(describe(StandardProtocol::http), (Protocol{"http", false, 80}));
    EXPECT_EQ(describe(StandardProtocol::https), (Protocol{"https", true, 443}));
    EXPECT_EQ(describe(StandardProtocol::tcp), (Protocol{"tcp", false, 0}));
    EXPECT_EQ(describe(StandardProtocol::udp), (Protocol{"udp", false, 0}));
    EXPECT_EQ(describe(StandardProtocol::ws), (Protocol{"ws", false, 80}));
    EXPECT_EQ(describe(StandardProtocol::wss), (Protocol{"wss", true, 443}));
    EXPECT_EQ(describe(StandardProtocol::kcp), (Protocol{"kcp", false, 0}));
    EXPECT_EQ(describe(StandardProtocol::grpc), (Protocol{"grpc", false, 0}));
    EXPECT_EQ(describe(StandardProtocol::grpcs), (Protocol{"grpcs", true, 0}));
    EXPECT_EQ(describe(StandardProtocol::dubbo), (Protocol{"dubbo", false, 0}));
    EXPECT_EQ(describe(StandardProtocol::dubbo2), (Protocol{"dubbo2", false, 0}));
}

TEST(MessagingProtocol, AreTheDesignsFour) {
    ASSERT_EQ(messaging_protocols().size(), 4u);
    EXPECT_EQ(describe(MessagingProtocol::redis_stream), (Protocol{"redis-stream", false, 6379}));
    EXPECT_EQ(describe(MessagingProtocol::redis_stream_tls),
              (Protocol{"redis-stream-tls", true, 6380}));
    EXPECT_EQ(describe(MessagingProtocol::redis_pubsub), (Protocol{"redis-pubsub", false, 6379}));
    EXPECT_EQ(describe(MessagingProtocol::redis_pubsub_tls),
              (Protocol{"redis-pubsub-tls", true, 6380}));
}

TEST(StandardProtocol, IsFoundByNameInAnyCase) {
    for (auto const protocol : standard_protocols()) {
        EXPECT_EQ(standard_protocol(describe(protocol).name), protocol);
    }
    EXPECT_EQ(standard_protocol("GrPc"), StandardProtocol::grpc);
    EXPECT_THROW(standard_protocol("redis-stream"), std::invalid_argument);
    EXPECT_THROW(standard_protocol(""), std::invalid_argument);
}

TEST(MessagingProtocol, IsFoundByNameInAnyCase) {
    for (auto const protocol : messaging_protocols()) {
        EXPECT_EQ(messaging_protocol(describe(protocol).name), protocol);
    }
    EXPECT_EQ(messaging_protocol("Redis-PubSub"), MessagingProtocol::redis_pubsub);
    EXPECT_THROW(messaging_protocol("http"), std::invalid_argument);
}

TEST(StandardProtocol, ComesInSecureAndPlain) {
    EXPECT_EQ(http_protocol(true), StandardProtocol::https);
    EXPECT_EQ(http_protocol(false), StandardProtocol::http);
    EXPECT_EQ(ws_protocol(true), StandardProtocol::wss);
    EXPECT_EQ(ws_protocol(false), StandardProtocol::ws);
    EXPECT_EQ(grpc_protocol(true), StandardProtocol::grpcs);
    EXPECT_EQ(grpc_protocol(false), StandardProtocol::grpc);
}

TEST(ResolveProtocol, FallsBackToHttp) {
    EXPECT_EQ(resolve_protocol("").name, "http");
    EXPECT_EQ(resolve_protocol("kafka").name, "http");
    EXPECT_EQ(resolve_protocol("GRPC").name, "grpc");
}

// Number 27: the design's program reads a messaging protocol back as HTTP.
TEST(ResolveProtocol, Defect27_KeepsMessagingProtocols) {
    for (auto const protocol : messaging_protocols()) {
        EXPECT_EQ(resolve_protocol(describe(protocol).name), describe(protocol));
    }
}

}  // namespace
}  // namespace rollcall::streaming

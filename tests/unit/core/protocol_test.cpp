#include "rollcall/protocol.hpp"

#include <gtest/gtest.h>

#include "core/protocol_table.hpp"

#include "rollcall/instance.hpp"

namespace rollcall {
namespace {

TEST(FindProtocol, IgnoresAsciiCase) {
    for (auto const& row : protocol_table()) EXPECT_EQ(find_protocol(row.name), row);
    EXPECT_EQ(find_protocol("HTTPS"), (Protocol{"https", true, 443}));
    EXPECT_EQ(find_protocol(""), std::nullopt);
    EXPECT_EQ(find_protocol("http "), std::nullopt);
    EXPECT_EQ(find_protocol("HTTPſ"), std::nullopt);
}

TEST(EffectivePort, FallsBackToTheSchemesDefault) {
    EXPECT_EQ(effective_port("http", 8080), 8080);
    EXPECT_EQ(effective_port("http", 0), 80);
    EXPECT_EQ(effective_port("WSS", -1), 443);
    EXPECT_EQ(effective_port("tcp", 0), 0);
    EXPECT_EQ(effective_port("gopher", 0), 0);
    EXPECT_EQ(effective_port("gopher", 70'000), 70'000);
}

TEST(Uri, PutsBracketsAroundIpv6Alone) {
    ServiceInstance instance;
    instance.host = "::ffff:127.0.0.1";
    instance.port = 1;
    EXPECT_EQ(uri(instance), "http://[::ffff:127.0.0.1]:1");
    instance.host = "fe80::1%eth0";
    EXPECT_EQ(uri(instance), "http://[fe80::1%25eth0]:1");
    instance.host = "100%";
    EXPECT_EQ(uri(instance), "http://100%:1");
    instance.scheme = "https";
    instance.port = 0;
    EXPECT_EQ(uri(instance), "https://100%:443");
}

}  // namespace
}  // namespace rollcall

#include "redis/info.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace rollcall::redis {
namespace {

constexpr std::string_view info =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux 6.1 x86_64\r\n"
    "run_id:9f5e64e33a7f1a6d2c1b0f0c8f5c5a3b9d1e7c42\r\ntcp_port:0\r\n\r\n"
    "# Replication\r\nrole:master\r\nmaster_replid:8371445ba7e4ea5d3d1c4ca2b14d7e6b7fca1b0a\r\n"
    "master_replid2:0000000000000000000000000000000000000000\r\nexecutable:/a:b/redis-server\r\n";

TEST(InfoValue, IsTheRestOfItsLine) {
    EXPECT_EQ(info_value(info, "run_id"), "9f5e64e33a7f1a6d2c1b0f0c8f5c5a3b9d1e7c42");
    EXPECT_EQ(info_value(info, "master_replid"), "8371445ba7e4ea5d3d1c4ca2b14d7e6b7fca1b0a");
    EXPECT_EQ(info_value(info, "master_replid2"), std::string(40, '0'));
    EXPECT_EQ(info_value(info, "executable"), "/a:b/redis-server");
    EXPECT_EQ(info_value(info, "replid"), "");
    EXPECT_EQ(info_value(info, "master"), "");
    EXPECT_EQ(info_value("a:1\nb:2", "b"), "2") << "other ends of lines";
    EXPECT_EQ(info_value("b:", "b"), "");
}

TEST(InfoValue, TakesAnyText) {
    std::minstd_rand random{1};
    constexpr std::string_view alphabet = "run_id:\r\nx ";
    for (int i = 0; i < 100'000; ++i) {
        std::string text(random() % 40, '\0');
        for (auto& c : text) c = alphabet[random() % alphabet.size()];
        auto const value = info_value(text, "run_id");
        EXPECT_EQ(value.find_first_of("\r\n"), value.npos);
        if (!value.empty()) {
            EXPECT_NE(text.find("run_id:" + std::string{value}), text.npos);
        }
    }
}

}  // namespace
}  // namespace rollcall::redis

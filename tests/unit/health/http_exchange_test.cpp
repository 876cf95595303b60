#include "health/http_exchange.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"

namespace rollcall::health {
namespace {

using Kind = HttpStatus::Kind;

HttpStatus known(int code) { return {Kind::known, code}; }

TEST(HttpExchange, ReadsTheStatus) {
    EXPECT_EQ(read_status("HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"), known(200));
    EXPECT_EQ(read_status("HTTP/1.0 302 Found\r\n"), known(302));
    EXPECT_EQ(read_status("HTTP/1.1 500\n"), known(500));
    EXPECT_EQ(read_status("HTTP/1.1 204 \r\n"), known(204));
}

TEST(HttpExchange, WaitsForTheWholeLine) {
    std::string const line = "HTTP/1.1 404 Not Found\r\n";
    for (std::size_t size = 0; size + 1 < line.size(); ++size) {
        EXPECT_EQ(read_status(line.substr(0, size)).kind, Kind::incomplete) << size;
    }
}

TEST(HttpExchange, PassesOverInterimAnswers) {
    std::string const interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    EXPECT_EQ(read_status(interim).kind, Kind::incomplete);
    EXPECT_EQ(read_status(interim.substr(0, 30)).kind, Kind::incomplete);
    EXPECT_EQ(read_status(interim + interim + "HTTP/1.1 503 No\r\n"), known(503));
    EXPECT_EQ(read_status("HTTP/1.1 101 Switching\r\n"), known(101));
}

TEST(HttpExchange, KnowsWhatIsNoAnswer) {
    for (auto const* const text :
         {"SSH-2.0-x\r\n", "HTTP/2 200\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 2000\r\n",
          "HTTP/1.1 099 x\r\n", "HTTP/1.1  200 x\r\n", "HTTP/1.x 200 x\r\n", "HTTP/1.1 2x0 x\r\n",
          "\r\n", "HTTP/1.\r\n", "HTTP/1.1 200OK\r\n", "h"}) {
        EXPECT_EQ(read_status(text).kind, Kind::malformed) << text;
    }
}

TEST(HttpExchange, ReadsNoEndlessHead) {
    std::string const endless = "HTTP/1.1 200 " + std::string(largest_head, 'x');
    EXPECT_EQ(read_status(endless.substr(0, largest_head - 1)).kind, Kind::incomplete);
    EXPECT_EQ(read_status(endless).kind, Kind::malformed);
    EXPECT_EQ(read_status("HTTP/1.1 100 x\r\n" + std::string(largest_head, 'x')).kind,
              Kind::malformed);
}

TEST(HttpExchange, JudgesByTheRange) {
    for (int const code : {200, 204, 302, 399}) EXPECT_TRUE(is_healthy_status(code)) << code;
    for (int const code : {101, 199, 400, 404, 500}) EXPECT_FALSE(is_healthy_status(code)) << code;
}

TEST(HttpExchange, AsksForTheEndpoint) {
    auto const request = http_request("orders.example", 8080, "/health?deep=1");
    EXPECT_TRUE(
        request.starts_with("GET /health?deep=1 HTTP/1.1\r\nHost: orders.example:8080\r\n"));
    EXPECT_TRUE(request.ends_with("\r\n\r\n"));
    EXPECT_NE(http_request("::1", 80, "/").find("Host: [::1]:80\r\n"), std::string::npos);
    EXPECT_NE(http_request("fe80::1%eth0", 80, "/").find("Host: [fe80::1]:80\r\n"),
              std::string::npos);
}

TEST(HttpExchange, RefusesEndpointsThatPointElsewhere) {
    EXPECT_EQ(test::refusal([] { check_endpoint("/health"); }), "");
    EXPECT_EQ(test::refusal([] { check_endpoint("@other.example/"); }),
              "endpoint \"@other.example/\": must begin with /");
    for (auto const* const endpoint :
         {"", "health", "http://other/", "/a b", "/a\r\nHost: other", "/a\n", "/#x", "/\x80"}) {
        EXPECT_NE(test::refusal([&] { check_endpoint(endpoint); }), "") << endpoint;
    }
    EXPECT_EQ(test::refusal([] { check_endpoint("/" + std::string(1999, 'a')); }), "");
    EXPECT_NE(test::refusal([] { check_endpoint("/" + std::string(2000, 'a')); }), "");
}

}  // namespace
}  // namespace rollcall::health

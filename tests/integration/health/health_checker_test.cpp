#include "rollcall/streaming/health_checker.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>

#include "integration/health/test_server.hpp"
#include "support/refusal.hpp"

namespace rollcall::streaming {
namespace {

using std::chrono::milliseconds;
using test::answering;
using test::refusing_instance;
using test::TestServer;
using test::TlsSite;
using testing::HasSubstr;

std::string const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// For those who answer, however busy the machine.
HealthCheckerOptions patient(bool tcp_fallback = true) {
    HealthCheckerOptions options;
    options.connect_timeout = std::chrono::seconds{30};
    options.read_timeout = std::chrono::seconds{30};
    options.tcp_fallback = tcp_fallback;
    return options;
}

/// For those who do not.
HealthCheckerOptions quick(bool tcp_fallback = true) {
    auto options = patient(tcp_fallback);
    options.read_timeout = milliseconds{200};
    return options;
}

HealthCheckResult over_http(TestServer::Behaviour behaviour, HealthCheckerOptions const& options) {
    TestServer const server{std::move(behaviour)};
    return HttpHealthChecker{options}.check(server.instance("http"));
}

/// A file of one certificate, removed at its end.
class CertificateFile {
public:
    explicit CertificateFile(std::string const& certificate)
        : path_(testing::TempDir() + "rollcall-" + std::to_string(::getpid()) + ".pem") {
        std::ofstream{path_} << certificate;
    }
    ~CertificateFile() { std::filesystem::remove(path_); }
    CertificateFile(CertificateFile const&) = delete;
    CertificateFile& operator=(CertificateFile const&) = delete;

    std::string const& path() const { return path_; }

private:
    std::string path_;
};

TEST(HttpHealthChecker, JudgesByTheStatusAndFallsBackOnRequestErrorsOnly) {  // Vector S6.
    EXPECT_TRUE(over_http(answering(ok), patient()).healthy);
    EXPECT_EQ(over_http(answering(ok), patient()).reason, "");
    EXPECT_TRUE(over_http(answering("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.9:1/\r\n\r\n"),
                          patient())
                    .healthy);
    for (auto const* const status : {"404", "500"}) {
        auto const result =
            over_http(answering(std::string{"HTTP/1.1 "} + status + " Bad\r\n\r\n"), patient());
        EXPECT_FALSE(result.healthy);
        EXPECT_EQ(result.reason, std::string{"GET /health: "} + status);
    }
}

TEST(HttpHealthChecker, FallsBackToTcpUnlessToldOtherwise) {
    auto const closing = [](TestServer::Socket&) {};
    auto const fallen_back = over_http(closing, patient());
    EXPECT_TRUE(fallen_back.healthy);
    EXPECT_THAT(fallen_back.reason, HasSubstr("GET /health: read: "));
    auto const strict = over_http(closing, patient(false));
    EXPECT_FALSE(strict.healthy);
    EXPECT_THAT(strict.reason, HasSubstr("GET /health: read: "));
}

TEST(HttpHealthChecker, WaitsForSilentOnesNoLongerThanItsLimit) {
    auto const result = over_http(test::stay_silent, quick(false));
    EXPECT_EQ(result.reason, "GET /health: read: timed out");
    EXPECT_GE(result.latency, milliseconds{200});
    EXPECT_LT(result.latency, milliseconds{10'000});
    EXPECT_TRUE(over_http(test::stay_silent, quick()).healthy);
}

TEST(HttpHealthChecker, WaitsForSlowOnesNoLongerThanItsLimit) {
    auto const result = over_http(test::trickle, quick(false));
    EXPECT_EQ(result.reason, "GET /health: read: timed out");
    EXPECT_LT(result.latency, milliseconds{10'000});
}

TEST(HttpHealthChecker, CountsGarbageAsAnAnswerAndABadOne) {
    auto const result = over_http(answering("+PONG\r\n"), patient());
    EXPECT_FALSE(result.healthy);
    EXPECT_EQ(result.reason, "GET /health: the answer is not HTTP/1");
}

TEST(HttpHealthChecker, ReadsNoLargeBody) {
    std::string const body(std::size_t{10} * 1024 * 1024, 'x');
    EXPECT_TRUE(over_http(answering("HTTP/1.1 200 OK\r\n\r\n" + body), patient()).healthy);
    EXPECT_FALSE(over_http(answering("HTTP/1.1 200 " + body), patient()).healthy);
}

TEST(HttpHealthChecker, AsksTheInstancesOwnAddressWhateverItsMetadataSay) {
    TestServer const elsewhere{answering(ok), "127.0.0.2"};
    TestServer const server{answering("HTTP/1.1 500 x\r\n\r\n"), "127.0.0.3"};
    auto instance = server.instance("http");
    auto const other = uri(elsewhere.instance("http"));
    instance.metadata = {{"health", other + "/"}, {"health_check_url", other}, {"uri", other}};
    instance.instance_id = other;
    EXPECT_FALSE(HttpHealthChecker{patient()}.check(instance).healthy);
    EXPECT_EQ(server.accepted(), 1);
    EXPECT_EQ(elsewhere.accepted(), 0);
}

TEST(HttpHealthChecker, LooksNamesUp) {
    TestServer const server{answering(ok)};
    auto instance = server.instance("http");
    instance.host = "localhost";
    EXPECT_TRUE(HttpHealthChecker{patient(false)}.check(instance).healthy);
    instance.host = "no-such-host.invalid";
    auto const result = HttpHealthChecker{patient()}.check(instance);
    EXPECT_FALSE(result.healthy);
    EXPECT_THAT(result.reason, HasSubstr("look up \"no-such-host.invalid\": "));
}

TEST(HttpHealthChecker, RefusesWhatItIsNotFor) {
    HttpHealthChecker checker;
    EXPECT_EQ(test::refusal([&] { checker.check(refusing_instance("tcp")); }),
              "scheme \"tcp\": must be http or https");
    EXPECT_NE(test::refusal([] { HttpHealthChecker{{}, "@elsewhere/"}; }), "");
    HealthCheckerOptions options;
    options.ca_file = "/nowhere.pem";
    EXPECT_EQ(test::refusal([&] { HttpHealthChecker{options}; }),
              "ca_file \"/nowhere.pem\": must be a file of certificates in PEM");
}

TEST(HttpsHealthChecker, VerifiesTheCertificate) {
    TlsSite site;
    TestServer const server{site.answering(ok)};
    auto instance = server.instance("https");
    instance.host = "localhost";
    auto options = patient(false);
    auto const unknown = HttpHealthChecker{options}.check(instance);
    EXPECT_FALSE(unknown.healthy);
    EXPECT_THAT(unknown.reason, HasSubstr("GET /health: TLS: "));

    CertificateFile const authorities{site.certificate};
    options.ca_file = authorities.path();
    auto const known = HttpHealthChecker{options}.check(instance);
    EXPECT_TRUE(known.healthy) << known.reason;
    instance.host = "127.0.0.1";  // The certificate is not for that.
    EXPECT_FALSE(HttpHealthChecker{options}.check(instance).healthy);
}

TEST(HttpsHealthChecker, AcceptsABadCertificateWhereToldTo) {
    TlsSite site;
    TestServer const server{site.answering("HTTP/1.1 500 x\r\n\r\n")};
    auto options = patient(false);
    options.verify_certificate = false;
    auto const unverified = HttpHealthChecker{options}.check(server.instance("https"));
    EXPECT_EQ(unverified.reason, "GET /health: 500");
    options.verify_certificate = true;
    options.tcp_fallback = true;  // The documented default: the port accepts.
    EXPECT_TRUE(HttpHealthChecker{options}.check(server.instance("https")).healthy);
}

TEST(HttpsHealthChecker, GivesUpATlsHandshakeThatNobodyAnswers) {
    TestServer const server{test::stay_silent};
    auto const result = HttpHealthChecker{quick(false)}.check(server.instance("https"));
    EXPECT_EQ(result.reason, "GET /health: TLS: timed out");
}

TEST(TcpHealthChecker, Connects) {
    TestServer const server{test::stay_silent};
    TcpHealthChecker checker{patient()};
    EXPECT_TRUE(checker.check(server.instance("tcp")).healthy);
    EXPECT_TRUE(checker.check(server.instance("UDP")).healthy);  // Defect 63, documented.
    auto const refused = checker.check(refusing_instance("tcp"));
    EXPECT_FALSE(refused.healthy);
    EXPECT_THAT(refused.reason, HasSubstr("connect: "));
    EXPECT_NE(test::refusal([&] { checker.check(server.instance("http")); }), "");
}

TEST(StandardHealthChecker, ProbesEveryProtocol) {  // Absent: defect 26.
    TestServer const server{answering("HTTP/1.1 500 x\r\n\r\n")};
    StandardHealthChecker checker{patient()};
    for (auto const* const scheme :
         {"tcp", "udp", "ws", "wss", "kcp", "grpc", "grpcs", "dubbo", "dubbo2", "redis-stream",
          "redis-stream-tls", "redis-pubsub", "redis-pubsub-tls", "other"}) {
        EXPECT_TRUE(checker.check(server.instance(scheme)).healthy) << scheme;
        EXPECT_FALSE(checker.check(refusing_instance(scheme)).healthy) << scheme;
    }
    EXPECT_EQ(checker.check(server.instance("http")).reason, "GET /health: 500");
}

class Opinion : public CustomHealthChecker {
public:
    explicit Opinion(std::function<bool()> opinion) : opinion_(std::move(opinion)) {}

    int asked = 0;

private:
    bool do_check(ServiceInstance const&) override {
        ++asked;
        return opinion_();
    }

    std::function<bool()> opinion_;
};

TEST(CustomHealthChecker, AsksOnlyWhoAcceptsConnections) {
    TestServer const server{test::stay_silent};
    Opinion good{[] { return true; }};
    EXPECT_TRUE(good.check(server.instance("grpc")).healthy);
    EXPECT_EQ(good.asked, 1);
    EXPECT_FALSE(good.check(refusing_instance("grpc")).healthy);
    EXPECT_EQ(good.asked, 1);
}

TEST(CustomHealthChecker, SaysWhyNot) {
    TestServer const server{test::stay_silent};
    Opinion bad{[] { return false; }};
    EXPECT_EQ(bad.check(server.instance("grpc")).reason, "do_check said no");
    Opinion throwing{[]() -> bool { throw std::runtime_error{"no disk"}; }};
    auto const result = throwing.check(server.instance("grpc"));
    EXPECT_FALSE(result.healthy);
    EXPECT_EQ(result.reason, "do_check threw: no disk");
}

}  // namespace
}  // namespace rollcall::streaming

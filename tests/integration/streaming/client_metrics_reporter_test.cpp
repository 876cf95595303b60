#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "integration/streaming/fixture.hpp"
#include "support/documented_users.hpp"
#include "support/round_trips.hpp"
#include "support/vectors.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

class ClientMetrics : public StreamingTest {
protected:
    using Reporter = RedisClientMetricsReporter;

    void store_with(std::optional<std::string> const& metrics) {
        std::vector<std::string> fields{"host", "h", "port", "1"};
        if (metrics) fields.insert(fields.end(), {"metrics", *metrics});
        store("orders", "o-1", 0, fields);
    }
    std::string metrics() {
        return redis().must({"HGET", instance_key("orders", "o-1"), "metrics"}).text;
    }

    /// One of the calls of the data file.
    static void call(ClientMetricsReporter& reporter, std::string const& what) {
        if (what == "+") return reporter.increment_inflight("orders", "o-1");
        if (what == "-") return reporter.decrement_inflight("orders", "o-1");
        if (what == "success" || what == "failure") {
            return reporter.record_outcome("orders", "o-1", what == "success");
        }
        std::istringstream words{what};
        std::string end;
        std::string outcome;
        long long latency = 0;
        if (!what.starts_with("end")) {
            words >> latency;
            return reporter.record_latency("orders", "o-1", std::chrono::milliseconds{latency});
        }
        words >> end >> latency >> outcome;
        reporter.record_end("orders", "o-1", std::chrono::milliseconds{latency},
                            outcome == "success");
    }
};

TEST_F(ClientMetrics, AreWrittenAsTheVectorsSay) {
    auto const vectors = cases("reporter");
    ASSERT_FALSE(vectors.empty());
    for (auto const& row : vectors) {
        TRACE_ROW(row);
        admin.must({"FLUSHALL"});
        auto const& before = row.at("before");
        store_with(before.is_null() ? std::nullopt
                                    : std::optional{std::string{before.as_string()}});
        ClientMetricsReporterConfig config;
        if (auto const* alpha = row.if_contains("alpha")) {
            config.error_rate_alpha = alpha->as_double();
        }
        Reporter reporter{client, config};
        for (auto const& what : row.at("calls").as_array()) {
            call(reporter, std::string{what.as_string()});
        }
        EXPECT_EQ(metrics(), row.at("after").as_string());
    }
}

// The design's program reads, changes and writes in three steps.
TEST_F(ClientMetrics, Defect45_NoUpdateOfSeveralClientsIsLost) {
    store_with("{\"cpu\":45.5}");
    constexpr int each = 200;
    {
        Client other{options()};
        Reporter one{client};
        Reporter two{other};
        std::vector<std::jthread> threads;
        for (auto* reporter : {&one, &two, &one, &two}) {
            threads.emplace_back([reporter] {
                for (int i = 0; i < each; ++i) reporter->increment_inflight("orders", "o-1");
            });
        }
    }
    EXPECT_EQ(metrics(), "{\"cpu\":45.5,\"clientInflight\":800}");
    EXPECT_FALSE(log.has("metrics"));
}

TEST_F(ClientMetrics, Defect46_NoHashWithoutAnInstanceAppears) {
    Reporter reporter{client};
    for (auto const* what : {"+", "-", "5", "failure", "end 5 success"}) call(reporter, what);
    EXPECT_TRUE(keys().empty());
    redis().must({"HSET", instance_key("orders", "o-1"), "healthy", "false"});
    call(reporter, "+");
    EXPECT_EQ(redis().must({"HLEN", instance_key("orders", "o-1")}).integer, 1);
}

TEST_F(ClientMetrics, Defect46_AsTheDesignsProgramOnRequest) {
    ClientMetricsReporterConfig config;
    config.registered_only = false;
    Reporter reporter{client, config};
    call(reporter, "+");
    EXPECT_EQ(metrics(), "{\"clientInflight\":1}");
    EXPECT_EQ(redis().must({"TTL", instance_key("orders", "o-1")}).integer, -1);
}

TEST_F(ClientMetrics, TheLeaseStaysAsItIs) {
    store_with(std::nullopt);
    redis().must({"PEXPIRE", instance_key("orders", "o-1"), "60000"});
    Reporter reporter{client};
    call(reporter, "end 5 success");
    auto const left = redis().must({"PTTL", instance_key("orders", "o-1")}).integer;
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 60'000);
}

TEST_F(ClientMetrics, NamesAreThoseOfTheRegistration) {
    store("a-b", "h_1", 0, {"host", "h", "port", "1"});
    Reporter reporter{client};
    reporter.increment_inflight("a b", "h:1");
    EXPECT_EQ(redis().must({"HGET", instance_key("a-b", "h_1"), "metrics"}).text,
              "{\"clientInflight\":1}");
}

TEST_F(ClientMetrics, AnEndIsOneScriptCall) {
    store_with(std::nullopt);
    RoundTrips trips{server()};
    auto counted = options();
    counted.url = trips.url();
    Client other{counted};
    Reporter reporter{other};
    call(reporter, "+");
    call(reporter, "end 5 success");
    EXPECT_EQ(trips.of([&] { call(reporter, "end 5 success"); }), 1);
}

// Whatever fails is logged, and nobody's call fails for it.

TEST_F(ClientMetrics, AForeignTypeIsLoggedAndLeftAlone) {
    redis().must({"SET", instance_key("orders", "o-1"), "text"});
    Reporter reporter{client};
    call(reporter, "+");
    EXPECT_EQ(redis().must({"GET", instance_key("orders", "o-1")}).text, "text");
    EXPECT_TRUE(log.has("report metrics orders/o-1: WRONGTYPE"));
}

TEST_F(ClientMetrics, WhatIsNoObjectIsLogged) {
    store_with("[1]");
    Reporter reporter{client};
    call(reporter, "+");
    EXPECT_TRUE(log.has("orders/o-1: what is there is no JSON object"));
}

TEST_F(ClientMetrics, AVeryLargeDocumentIsLeftAlone) {
    auto const large = R"({"a":")" + std::string(1U << 20U, 'x') + R"("})";
    store_with(large);
    Reporter reporter{client};
    call(reporter, "+");
    EXPECT_EQ(metrics(), large);
    EXPECT_TRUE(log.has("at most 1 MiB"));
}

TEST_F(ClientMetrics, NamesThatCannotBeStoredAreLogged) {
    Reporter reporter{client};
    reporter.increment_inflight("", "o-1");
    reporter.increment_inflight("orders", " ");
    EXPECT_TRUE(keys().empty());
    EXPECT_TRUE(log.has("service name"));
}

TEST_F(ClientMetrics, ARedisThatIsAwayIsLogged) {
    auto away = options();
    away.url = "unix:///nonexistent/redis.sock";
    away.request_timeout = 50ms;
    Client lost{away};
    Reporter reporter{lost};
    call(reporter, "+");
    EXPECT_TRUE(log.has("Redis cannot be reached"));
}

// A documented reader, and the one right that the page names besides.
TEST_F(ClientMetrics, ReportingTakesOneRightMoreThanReading) {
    for (auto words : rollcall::test::documented_users("redis-contract.md")) {
        if (words.at(2) == "reader") redis().must(words);
    }
    store_with(std::nullopt);
    auto as_reader = options();
    as_reader.url = "unix://reader:PASSWORD@" + server().socket();
    {
        Client reader{as_reader};
        Reporter reporter{reader};
        call(reporter, "+");
    }
    EXPECT_EQ(metrics(), "");
    EXPECT_TRUE(log.has("wrong credentials or a missing right"));
    redis().must({"ACL", "SETUSER", "reader", "+hset"});
    Client client_of_services{as_reader};
    Reporter reporter{client_of_services};
    call(reporter, "end 5 failure");
    redis().must({"ACL", "DELUSER", "reader"});
    EXPECT_TRUE(metrics().ends_with("20.0}")) << metrics();
}

TEST_F(ClientMetrics, NonsenseInTheConfiguration) {
    ClientMetricsReporterConfig config;
    config.error_rate_alpha = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ((Reporter{client, config}.config().error_rate_alpha), 0.2);
    config.key_prefix = " ";
    EXPECT_THROW((Reporter{client, config}), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::streaming::test

#include "rollcall/cosky/config.hpp"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::refusal;
using test::rows;
using test::text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

RegistryProperties with_ttl(milliseconds ttl) {
    RegistryProperties properties;
    properties.instance_ttl = ttl;
    return properties;
}

milliseconds time_in(boost::json::object const& row, std::string_view name) {
    return milliseconds{row.at(name).as_int64()};
}

TEST(Config, HasTheDesignsDefaults) {
    EXPECT_EQ(RegistryProperties{}.instance_ttl, 60s);
    EXPECT_TRUE(RegistryProperties{}.reclaim_persistent);
    EXPECT_EQ(RenewProperties{}.initial_delay, 1s);
    EXPECT_EQ(RenewProperties{}.period, 10s);
    EXPECT_EQ(refusal([] { validate(RegistryProperties{}); }), "");
    EXPECT_EQ(refusal([] { validate(RenewProperties{}, RegistryProperties{}); }), "");
}

TEST(Config, BoundsTheTtl) {
    for (auto const& value : rows("cosky/validation", "registries")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const why = refusal([&] { validate(with_ttl(time_in(row, "instance_ttl"))); });
        if (text(row, "rule").empty()) {
            EXPECT_EQ(why, "");
        } else {
            EXPECT_THAT(why, AllOf(StartsWith("instance ttl \""), HasSubstr(text(row, "rule"))));
        }
    }
}

TEST(Config, BoundsDelayAndPeriod) {
    for (auto const& value : rows("cosky/validation", "renewals")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        RenewProperties properties;
        properties.initial_delay = time_in(row, "initial_delay");
        properties.period = time_in(row, "period");
        auto const registry = with_ttl(time_in(row, "instance_ttl"));
        auto const why = refusal([&] { validate(properties, registry); });
        if (text(row, "rule").empty()) {
            EXPECT_EQ(why, "");
        } else {
            EXPECT_THAT(
                why, AllOf(StartsWith(text(row, "field") + " \""), HasSubstr(text(row, "rule"))));
        }
    }
}

}  // namespace
}  // namespace rollcall::cosky

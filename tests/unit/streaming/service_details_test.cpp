#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>

#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/registry_admin_service.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;

TEST(ServiceDetails, RatesArePercentagesToTheLastDigit) {
    for (auto const& value : test::rows("admin", "rates")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        ServiceDetails details;
        details.total_instances = row.at("total").to_number<std::size_t>();
        details.healthy_instances = row.at("part").to_number<std::size_t>();
        EXPECT_EQ(details.healthy_rate(), row.at("rate").to_number<double>());
        EXPECT_EQ(details.enabled_rate(), 0.0);
        details.enabled_instances = details.healthy_instances;
        EXPECT_EQ(details.enabled_rate(), details.healthy_rate());
    }
}

TEST(InstanceDetails, ExpiresBehindItsTimeout) {
    InstanceDetails details;
    details.last_heartbeat_time = 1'000ms;
    details.as_of = 91'000ms;
    EXPECT_EQ(details.heartbeat_delay(), 90'000ms);
    EXPECT_FALSE(details.is_expired(90'000ms));
    EXPECT_TRUE(details.is_expired(89'999ms));
}

}  // namespace
}  // namespace rollcall::streaming

#include "rollcall/streaming/retry_policy.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using std::chrono::milliseconds;
using test::rows;

RetryPolicy policy_in(boost::json::object const& row) {
    auto const& values = row.at("policy").as_array();
    auto const time = [&](std::size_t i) { return milliseconds{values.at(i).as_int64()}; };
    return RetryPolicy{boost::json::value_to<int>(values.at(0)),
                       time(1),
                       values.at(2).as_double(),
                       time(3),
                       time(4),
                       [](std::int64_t most) { return most; }};
}

TEST(RetryPolicy, PausesAsTheVectorsSay) {
    auto const cases = rows("retry", "cases");
    ASSERT_FALSE(cases.empty());
    for (auto const& value : cases) {
        TRACE_ROW(value);
        auto const& row = value.as_object();
        auto const policy = policy_in(row);
        for (auto const& pair : row.at("delays").as_array()) {
            auto const attempt = boost::json::value_to<int>(pair.at(0));
            EXPECT_EQ(policy.delay(attempt).count(), pair.at(1).as_int64()) << attempt;
        }
        if (auto const* most = row.if_contains("max_attempts")) {
            EXPECT_EQ(policy.max_attempts(), most->as_int64());
        }
    }
}

TEST(RetryPolicy, DefaultsAreThoseOfAnInvoker) {
    RetryPolicy const policy;
    EXPECT_EQ(policy.max_attempts(), 3);
    EXPECT_EQ(policy.initial_delay(), milliseconds{10});
    EXPECT_EQ(policy.backoff_factor(), 2.0);
    EXPECT_EQ(policy.max_delay(), milliseconds{200});
    EXPECT_EQ(policy.jitter(), milliseconds{10});
}

TEST(RetryPolicy, JitterIsEveryWholeNumberUpToItsBound) {
    RetryPolicy const policy{3, milliseconds{100}, 1.0, milliseconds{100}, milliseconds{3}};
    std::set<milliseconds::rep> seen;
    for (int i = 0; i < 1'000; ++i) seen.insert(policy.delay(1).count());
    EXPECT_EQ(seen, (std::set<milliseconds::rep>{100, 101, 102, 103}));
}

TEST(RetryPolicy, KeepsWithinTheJitterWhateverIsDrawn) {
    auto const with = [](std::int64_t drawn) {
        return RetryPolicy{3,
                           milliseconds{10},
                           2.0,
                           milliseconds{10},
                           milliseconds{5},
                           [drawn](std::int64_t) { return drawn; }}
            .delay(1);
    };
    EXPECT_EQ(with(-1'000), milliseconds{10});
    EXPECT_EQ(with(1'000), milliseconds{15});
}

TEST(RetryPolicy, AFactorThatIsNoNumberCountsAsOne) {
    for (auto const factor :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
        RetryPolicy const policy{3, milliseconds{10}, factor, milliseconds{200}, milliseconds{0}};
        EXPECT_EQ(policy.backoff_factor(), 1.0);
        EXPECT_EQ(policy.delay(9), milliseconds{10});
    }
    RetryPolicy const endless{3, milliseconds{10}, std::numeric_limits<double>::infinity(),
                              milliseconds{200}, milliseconds{0}};
    EXPECT_EQ(endless.delay(1), milliseconds{10});
    EXPECT_EQ(endless.delay(2), milliseconds{200});
}

TEST(RetryPolicy, Defect44_NegativeSettingsGiveNoNegativePause) {
    RetryPolicy const policy{-1, milliseconds::min(), -3.0, milliseconds::min(),
                             milliseconds::min()};
    EXPECT_EQ(policy.max_attempts(), 1);
    for (int attempt = -2; attempt < 10; ++attempt) {
        EXPECT_EQ(policy.delay(attempt), milliseconds{0});
    }
}

}  // namespace
}  // namespace rollcall::streaming

#include "invoke/circuit_breakers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using TimePoint = CircuitBreaker::TimePoint;

TEST(CircuitBreakers, GiveAnInstanceTheSameBreakerAgain) {
    CircuitBreakers breakers{{}, 10};
    auto const breaker = breakers.of("orders", "a");
    EXPECT_EQ(breakers.of("orders", "a"), breaker);
    EXPECT_NE(breakers.of("orders", "b"), breaker);
    EXPECT_NE(breakers.of("others", "a"), breaker);
    EXPECT_EQ(breakers.size(), 3u);
}

TEST(CircuitBreakers, Defect43_ForgetWhatWasNotUsedForTheLongest) {
    CircuitBreakers breakers{{}, 3};
    auto const a = breakers.of("orders", "a");
    auto const b = breakers.of("orders", "b");
    auto const c = breakers.of("orders", "c");
    EXPECT_EQ(breakers.of("orders", "a"), a);
    breakers.of("orders", "d");
    EXPECT_EQ(breakers.size(), 3u);
    EXPECT_EQ(breakers.of("orders", "a"), a);
    EXPECT_EQ(breakers.of("orders", "c"), c);
    EXPECT_NE(breakers.of("orders", "b"), b);
}

TEST(CircuitBreakers, NameThoseOfAServiceThatDeny) {
    CircuitBreakers breakers{{}, 10};
    for (auto const* service : {"order", "orders", "orders2"}) {
        for (auto const* id : {"a", "b", "c"}) breakers.of(service, id);
        breakers.of(service, "b")->on_failure(TimePoint{});
        breakers.of(service, "c")->on_failure(TimePoint{1s});
    }
    EXPECT_THAT(breakers.denying("orders", TimePoint{1s}), ElementsAre("b", "c"));
    EXPECT_THAT(breakers.denying("orders", TimePoint{5s}), ElementsAre("c"));
    EXPECT_THAT(breakers.denying("orders", TimePoint{6s}), IsEmpty());
    EXPECT_THAT(breakers.denying("order2", TimePoint{}), IsEmpty());
}

TEST(CircuitBreakers, AreConfiguredAlike) {
    CircuitBreakerConfig config;
    config.minimum_calls = 7;
    CircuitBreakers breakers{config, 10};
    EXPECT_EQ(breakers.of("orders", "a")->config().minimum_calls, 7);
}

}  // namespace
}  // namespace rollcall::streaming

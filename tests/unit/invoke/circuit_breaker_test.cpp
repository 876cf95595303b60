#include "rollcall/streaming/circuit_breaker.hpp"

#include <atomic>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::rows;
using State = CircuitBreaker::State;
using TimePoint = CircuitBreaker::TimePoint;

std::string name(State state) {
    switch (state) {
        case State::closed:
            return "closed";
        case State::open:
            return "open";
        case State::half_open:
            return "half_open";
    }
    return "?";
}

CircuitBreakerConfig config_in(boost::json::object const& row) {
    CircuitBreakerConfig config;
    for (auto const& [key, value] : row) {
        if (key == "window_size") config.window_size = boost::json::value_to<int>(value);
        if (key == "failure_threshold") config.failure_threshold = value.to_number<double>();
        if (key == "open_duration") config.open_duration = milliseconds{value.as_int64()};
        if (key == "half_open_max_calls") {
            config.half_open_max_calls = boost::json::value_to<int>(value);
        }
        if (key == "minimum_calls") config.minimum_calls = boost::json::value_to<int>(value);
    }
    return config;
}

/// Plays the steps of a case.
class Player {
public:
    explicit Player(CircuitBreakerConfig config) : breaker_(config) {}

    void play(boost::json::object const& step) {
        TRACE_ROW(step);
        if (auto const* at = step.if_contains("at")) {
            now_ = TimePoint{milliseconds{at->as_int64()}};
        } else if (auto const* state = step.if_contains("state")) {
            EXPECT_EQ(name(breaker_.state()), state->as_string());
        } else {
            act(step.at("do").as_string(), step);
        }
    }

private:
    void act(std::string_view what, boost::json::object const& step) {
        if (what == "success") return breaker_.on_success(now_);
        if (what == "failure") return breaker_.on_failure(now_);
        if (what == "release") {
            ASSERT_TRUE(permit_);
            return breaker_.release(*permit_);
        }
        ASSERT_EQ(what, "allow");
        bool const denied = breaker_.denies(now_);
        auto const permit = breaker_.acquire(now_);
        EXPECT_EQ(permit.has_value(), step.at("gives").as_bool());
        EXPECT_EQ(denied, !permit);
        if (permit && !step.contains("aside")) permit_ = permit;
    }

    CircuitBreaker breaker_;
    TimePoint now_;
    std::optional<CircuitBreaker::Permit> permit_;
};

TEST(CircuitBreaker, GoesAsTheVectorsSay) {
    auto const cases = rows("breaker", "cases");
    ASSERT_FALSE(cases.empty());
    for (auto const& value : cases) {
        SCOPED_TRACE(test::text(value.as_object(), "title"));
        auto const& row = value.as_object();
        Player player{config_in(row.at("config").as_object())};
        for (auto const& step : row.at("steps").as_array()) player.play(step.as_object());
    }
}

TEST(CircuitBreaker, Defect41_TheFirstFailureOpensItUnlessMoreCallsAreAskedFor) {
    CircuitBreaker as_documented;
    as_documented.on_failure(TimePoint{});
    EXPECT_EQ(as_documented.state(), State::open);

    CircuitBreakerConfig config;
    config.minimum_calls = 5;
    CircuitBreaker better{config};
    for (int i = 0; i < 4; ++i) {
        better.on_failure(TimePoint{});
        EXPECT_EQ(better.state(), State::closed);
    }
    better.on_failure(TimePoint{});
    EXPECT_EQ(better.state(), State::open);
}

TEST(CircuitBreaker, AThresholdThatIsNoNumberIsTheDefault) {
    CircuitBreakerConfig config;
    config.failure_threshold = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(CircuitBreaker{config}.config().failure_threshold, 0.5);
}

TEST(CircuitBreaker, Defect42_TrialsThatEndWithoutOutcomeNeverUseItUp) {
    CircuitBreaker breaker;
    breaker.on_failure(TimePoint{});
    TimePoint const later{5s};
    for (int i = 0; i < 1'000; ++i) {
        auto const permit = breaker.acquire(later);
        ASSERT_TRUE(permit) << i;
        EXPECT_TRUE(breaker.denies(later));
        breaker.release(*permit);
    }
    EXPECT_EQ(breaker.state(), State::half_open);
    EXPECT_TRUE(breaker.allow(later));
}

TEST(CircuitBreaker, LetsNoMoreTrialsThroughThanItMayWhateverThreadsDo) {
    CircuitBreakerConfig config;
    config.half_open_max_calls = 2;
    CircuitBreaker breaker{config};
    breaker.on_failure(TimePoint{});
    TimePoint const later{5s};
    std::atomic<int> trials = 0;
    std::atomic<int> most = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5'000; ++i) {
                auto const permit = breaker.acquire(later);
                if (!permit) continue;
                auto const running = ++trials;
                auto seen = most.load();
                while (running > seen && !most.compare_exchange_weak(seen, running)) {
                }
                --trials;
                breaker.release(*permit);
            }
        });
    }
    threads.clear();
    EXPECT_GE(most, 1);
    EXPECT_LE(most, 2);
    EXPECT_FALSE(breaker.denies(later));
}

}  // namespace
}  // namespace rollcall::streaming

#include "registry/redis_clock.hpp"

#include <gtest/gtest.h>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

constexpr RedisClock::Time T{1'760'000'000'123};
constexpr RedisClock::Moment start{};

TEST(RedisClock, IsCarriedOnByTheMonotonicClock) {
    RedisClock clock;
    EXPECT_FALSE(clock.estimate(start));
    clock.read(T, T, start);
    EXPECT_EQ(clock.estimate(start), T);
    EXPECT_EQ(clock.estimate(start + 5s), T + 5s);
    clock.read(T + 1s, T + 1s, start + 5s);
    EXPECT_EQ(clock.estimate(start + 6s), T + 2s) << "the last reading counts";
}

TEST(RedisClock, Defect61_DifferentClocksAreToldOnce) {
    RedisClock clock;
    EXPECT_FALSE(clock.read(T, T + 2s, start)) << "exactly at the limit";
    EXPECT_EQ(clock.read(T, T + 2'001ms, start), 2'001ms);
    EXPECT_FALSE(clock.read(T, T + 5s, start)) << "told already";
    EXPECT_FALSE(clock.read(T, T, start));
    EXPECT_EQ(clock.read(T, T - 3s, start), -3s) << "again, after it had been well";
}

}  // namespace
}  // namespace rollcall

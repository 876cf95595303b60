#include "registry/redis_clock.hpp"

#include <gtest/gtest.h>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

constexpr RedisClock::Time redis{1'760'000'000'123};
constexpr RedisClock::Moment start{};

TEST(RedisClock, IsCarriedOnByTheMonotonicClock) {
    RedisClock clock;
    EXPECT_FALSE(clock.estimate(start));
    clock.read(redis, redis, start);
    EXPECT_EQ(clock.estimate(start), redis);
    EXPECT_EQ(clock.estimate(start + 5s), redis + 5s);
    clock.read(redis + 1s, redis + 1s, start + 5s);
    EXPECT_EQ(clock.estimate(start + 6s), redis + 2s) << "the last reading counts";
}

TEST(RedisClock, Defect61_DifferentClocksAreToldOnce) {
    RedisClock clock;
    EXPECT_FALSE(clock.read(redis, redis + 2s, start)) << "exactly at the limit";
    EXPECT_EQ(clock.read(redis, redis + 2'001ms, start), 2'001ms);
    EXPECT_FALSE(clock.read(redis, redis + 5s, start)) << "told already";
    EXPECT_FALSE(clock.read(redis, redis, start));
    EXPECT_EQ(clock.read(redis, redis - 3s, start), -3s) << "again, after it had been well";
}

}  // namespace
}  // namespace rollcall

#include "core/deadline.hpp"

#include <gtest/gtest.h>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, IsAsFarAwayAsTheLimit) {
    auto const before = std::chrono::steady_clock::now();
    auto const deadline = after(90s);
    EXPECT_GE(deadline, before + 90s);
    EXPECT_LE(deadline, std::chrono::steady_clock::now() + 90s);
    EXPECT_LT(after(-1ms), std::chrono::steady_clock::now());
}

TEST(Deadline, TheLongestLimitsDoNotOverflow) {
    auto const now = std::chrono::steady_clock::now();
    auto const far = now + 24h * 365;
    EXPECT_GT(after(std::chrono::hours::max()), far);
    EXPECT_GT(after(std::chrono::milliseconds::max()), far);
    EXPECT_GT(after(std::chrono::nanoseconds::max()), far);
    EXPECT_LT(after(std::chrono::milliseconds::min()), now);
    EXPECT_LT(after(std::chrono::nanoseconds::min()), now);
}

}  // namespace
}  // namespace rollcall

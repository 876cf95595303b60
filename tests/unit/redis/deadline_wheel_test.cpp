#include "redis/deadline_wheel.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;

Deadline const start{std::chrono::hours{1'000}};
constexpr auto width = 16ms;

std::vector<Timed*> expired(DeadlineWheel& wheel, Deadline now) {
    std::vector<Timed*> found;
    wheel.expire(now, [&](Timed& item) { found.push_back(&item); });
    return found;
}

TEST(DeadlineWheel, ReportsWithinOneWidthAfterAndNeverBefore) {
    DeadlineWheel wheel{start};
    Timed item{start + 50ms, {}};
    auto const when = wheel.add(item);
    EXPECT_GE(when, item.deadline);
    EXPECT_LE(when, item.deadline + width);
    EXPECT_EQ(wheel.next(), when);
    EXPECT_TRUE(expired(wheel, when - 1ns).empty());
    EXPECT_EQ(expired(wheel, when), std::vector{&item});
    EXPECT_EQ(wheel.next(), std::nullopt);
}

TEST(DeadlineWheel, PastDeadlineIsReportedAtTheNextTick) {
    DeadlineWheel wheel{start};
    expired(wheel, start + 10s);
    Timed item{start + 1s, {}};
    auto const when = wheel.add(item);
    EXPECT_LE(when, start + 10s + width);
    EXPECT_EQ(expired(wheel, when), std::vector{&item});
}

TEST(DeadlineWheel, FarDeadlinesWaitForLaterRounds) {
    DeadlineWheel wheel{start};
    Timed item{start + 1h, {}};
    wheel.add(item);
    auto now = start;
    std::size_t looks = 0;
    while (expired(wheel, now).empty()) {
        ASSERT_LT(now, item.deadline + width);
        now = wheel.next().value();
        ++looks;
    }
    EXPECT_GE(now, item.deadline);
    EXPECT_LE(looks, 3'600u / 4 + 2);
}

TEST(DeadlineWheel, ForgetsWhatIsUnlinkedOrDestroyed) {
    DeadlineWheel wheel{start};
    Timed unlinked{start + 1s, {}};
    {
        Timed destroyed{start + 1s, {}};
        wheel.add(destroyed);
        wheel.add(unlinked);
        unlinked.unlink();
    }
    EXPECT_EQ(wheel.next(), std::nullopt);
    EXPECT_TRUE(expired(wheel, start + 2s).empty());
}

TEST(DeadlineWheel, SinkMayAddAndTakeAway) {
    DeadlineWheel wheel{start};
    Timed first{start + 1s, {}};
    Timed second{start + 1s, {}};
    Timed added{start + 1s, {}};
    wheel.add(first);
    wheel.add(second);
    std::vector<Timed*> found;
    wheel.expire(start + 2s, [&](Timed& item) {
        found.push_back(&item);
        second.unlink();
        wheel.add(added);
    });
    EXPECT_EQ(found, std::vector{&first});
    EXPECT_EQ(expired(wheel, start + 2s + width), std::vector{&added});
}

TEST(DeadlineWheel, AgreesWithASimpleModel) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random{seed};
        auto const up_to = [&](int limit) {
            return std::chrono::milliseconds{std::uniform_int_distribution{0, limit}(random)};
        };
        DeadlineWheel wheel{start};
        std::deque<Timed> items;
        std::size_t reported = 0;
        auto now = start;
        for (int step = 0; step < 200; ++step) {
            wheel.add(items.emplace_back(now + up_to(20'000), Timed::Hook{}));
            now += up_to(step % 10 == 0 ? 9'000 : 100);
            for (auto* const item : expired(wheel, now)) {
                ASSERT_LE(item->deadline, now) << "seed " << seed;
                ++reported;
            }
            std::size_t waiting = 0;
            for (auto const& item : items) {
                if (!item.hook.is_linked()) continue;
                ++waiting;
                ASSERT_GT(item.deadline + width, now) << "seed " << seed;
            }
            ASSERT_EQ(waiting + reported, items.size());
        }
    }
}

}  // namespace
}  // namespace rollcall::redis

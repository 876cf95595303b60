#include "redis/recess.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;

TEST(Recess, EndsAtItsMoment) {
    Recess recess;
    auto const moment = after(20ms);
    recess.pass(recess.begin(), moment);
    EXPECT_GE(std::chrono::steady_clock::now(), moment);
}

TEST(Recess, EndsForAllWhoBeganBefore) {
    Recess recess;
    auto const early = recess.begin();
    std::thread waits{[&, begun = recess.begin()] { recess.pass(begun, Deadline::max()); }};
    recess.end();
    waits.join();
    recess.pass(early, Deadline::max());
    auto const moment = after(5ms);
    recess.pass(recess.begin(), moment);
    EXPECT_GE(std::chrono::steady_clock::now(), moment) << "but for nobody who begins later";
}

}  // namespace
}  // namespace rollcall::redis

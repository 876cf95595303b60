#include "redis/answer_watch.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;
using Verdict = AnswerWatch::Verdict;

class AnswerWatchTest : public testing::Test {
protected:
    AnswerWatchTest() { watch.begin({10, 1'000}, begin); }

    /// `owed`: since when; none if nothing is.
    Verdict look(std::chrono::milliseconds at, std::uint64_t answers, std::uint64_t bytes,
                 std::optional<std::chrono::milliseconds> owed = 0s) {
        auto const since = owed ? std::optional{begin + *owed} : std::nullopt;
        return watch.look({10 + answers, 1'000 + bytes}, since, begin + at);
    }

    Deadline const begin{std::chrono::hours{1'000}};
    AnswerWatch watch{3s};
};

TEST_F(AnswerWatchTest, BytesAreNoAnswer) {
    EXPECT_EQ(look(1s, 0, 3), Verdict::well);
    EXPECT_EQ(look(2'999ms, 0, 9), Verdict::well);
    EXPECT_EQ(look(3s, 0, 9), Verdict::dead);
}

TEST_F(AnswerWatchTest, TheOldestQuestionCounts) {
    EXPECT_EQ(look(2s, 1, 9, 1s), Verdict::well);
    EXPECT_EQ(look(3'999ms, 1, 12, 1s), Verdict::well);
    EXPECT_EQ(look(4s, 2, 12, 1s), Verdict::dead) << "an answer, but to one of many";
}

TEST_F(AnswerWatchTest, ALongAnswerOnASlowLineIsWaitedFor) {
    auto const rate = AnswerWatch::bytes_in_second;
    for (std::uint64_t i = 0; i < 100; ++i) {
        auto const at = std::chrono::seconds{3 * i};
        EXPECT_EQ(look(at, 0, 3 * rate * i), Verdict::well) << i;
    }
    EXPECT_EQ(look(300s, 0, 3 * rate * 99 + 100), Verdict::dead) << "what came before is over";
}

TEST_F(AnswerWatchTest, ManyAnswersOfASlowServerAreWaitedFor) {
    EXPECT_EQ(look(0s, 0, 0), Verdict::well);
    EXPECT_EQ(look(3s, 12, 60), Verdict::well);
    EXPECT_EQ(look(6s, 14, 70), Verdict::dead);
}

TEST_F(AnswerWatchTest, WhatWasSentBeforeTheConnectionIsNotHeldAgainstIt) {
    EXPECT_EQ(look(2'900ms, 0, 0, -10s), Verdict::well);
    EXPECT_EQ(look(3s, 0, 0, -10s), Verdict::dead);
}

TEST_F(AnswerWatchTest, WhenNothingIsOwedItIsAsked) {
    EXPECT_EQ(look(900ms, 0, 50'000, std::nullopt), Verdict::well);
    EXPECT_EQ(look(1s, 0, 60'000, std::nullopt), Verdict::ask) << "messages are no answers";
    EXPECT_EQ(look(1'100ms, 0, 60'000, 1s), Verdict::well);
    EXPECT_EQ(look(1'200ms, 1, 60'000, std::nullopt), Verdict::well);
    EXPECT_EQ(look(2'100ms, 1, 60'000, std::nullopt), Verdict::well);
    EXPECT_EQ(look(2'200ms, 1, 60'000, std::nullopt), Verdict::ask);
}

TEST_F(AnswerWatchTest, TheTimeInWhichNobodyLookedDoesNotCount) {
    EXPECT_EQ(look(1s, 0, 0), Verdict::well);
    watch.excuse(10s);
    EXPECT_EQ(look(12s, 0, 0), Verdict::well);
    EXPECT_EQ(look(13s, 0, 0), Verdict::dead);
}

}  // namespace
}  // namespace rollcall::redis

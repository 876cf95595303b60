#include "core/log.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rollcall {
namespace {

using namespace std::chrono_literals;

RateLimit::Clock::time_point const start{std::chrono::hours{1}};

TEST(RateLimit, LetsOneOfAKindThroughAndCountsTheOthers) {
    RateLimit limit{1min};
    EXPECT_EQ(limit.admit("a", start), 0u);
    EXPECT_EQ(limit.admit("a", start + 1s), std::nullopt);
    EXPECT_EQ(limit.admit("b", start + 1s), 0u);
    EXPECT_EQ(limit.admit("a", start + 59s), std::nullopt);
    EXPECT_EQ(limit.admit("a", start + 60s), 2u);
    EXPECT_EQ(limit.admit("a", start + 61s), std::nullopt);
    EXPECT_EQ(limit.admit("b", start + 10min), 0u);
}

TEST(StateLimit, LetsChangesThroughAndHoldsARelapseBack) {
    StateLimit limit{1min, 5s};
    auto const bad = [&](std::string_view state, auto at) {
        return limit.admit("x", state, false, start + at);
    };
    auto const good = [&](auto at) { return limit.admit("x", "up", true, start + at); };
    EXPECT_EQ(bad("away", 0s), 0u) << "the first state";
    EXPECT_EQ(bad("away", 1s), std::nullopt);
    EXPECT_EQ(good(2s), 1u) << "never held back";
    EXPECT_EQ(bad("lost", 3s), std::nullopt) << "flutters";
    EXPECT_EQ(good(4s), std::nullopt) << "is what was told last";
    EXPECT_EQ(bad("away", 4s), std::nullopt);
    EXPECT_EQ(bad("away", 5s), 3u) << "it lasts";
    EXPECT_EQ(bad("other", 5s), 0u) << "from bad to bad is a change like any other";
    EXPECT_EQ(bad("other", 64s), std::nullopt);
    EXPECT_EQ(bad("other", 65s), 1u);
    EXPECT_EQ(limit.admit("z", "up", true, start), 0u);
    EXPECT_EQ(limit.admit("z", "lost", false, start), 0u) << "no relapse";
    EXPECT_EQ(limit.admit("y", "away", false, start + 67s), 0u);
}

TEST(Log, TellsChangesOfAState) {
    std::vector<std::string> seen;
    Log const log{[&](LogLevel, std::string_view text) { seen.emplace_back(text); }};
    for (int i = 0; i < 2; ++i) {
        log.write_state(LogLevel::warning, "link", "down", "down");
        log.write_state(LogLevel::warning, "link", "down", "down");
        log.write_state(LogLevel::info, "link", "up", "up");
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"down", "up (1 like it left out)"}))
        << "a relapse at once waits, and what it would end stands";
}

TEST(Log, PassesLevelAndText) {
    std::vector<std::pair<LogLevel, std::string>> seen;
    Log const log{[&](LogLevel level, std::string_view text) { seen.emplace_back(level, text); }};
    log.write(LogLevel::warning, "a", "one");
    log.write(LogLevel::warning, "a", "two");
    log.write(LogLevel::info, "b", "three");
    EXPECT_EQ(seen, (std::vector<std::pair<LogLevel, std::string>>{{LogLevel::warning, "one"},
                                                                   {LogLevel::info, "three"}}));
}

TEST(Log, CopiesShareTheirLimit) {
    int calls = 0;
    Log const log{[&](LogLevel, std::string_view) { ++calls; }};
    std::vector const copies{log, log};
    for (auto const& copy : copies) copy.write(LogLevel::error, "a", "x");
    EXPECT_EQ(calls, 1);
}

TEST(Log, EscapesWhatDrivesATerminal) {
    struct {
        std::string text;
        std::string_view written;
    } const table[] = {
        {R"(plain é 日本 "q" \)", R"(plain é 日本 "q" \)"},
        {"a\x1b[2J\r\n\tb\x7f", R"(a\x1b[2J\x0d\x0a\x09b\x7f)"},
        {std::string{"n\0l", 3}, R"(n\x00l)"},
        {"\xff\xfe", R"(\xff\xfe)"},
        {"\u009b1m", R"(\xc2\x9b1m)"},
        {"\u202eabc", R"(\xe2\x80\xaeabc)"},
    };
    for (auto const& [text, written] : table) {
        std::string seen;
        Log const log{[&](LogLevel, std::string_view message) { seen = message; }};
        log.write(LogLevel::info, "k", text);
        EXPECT_EQ(seen, written);
    }
}

TEST(Log, CutsLongText) {
    std::string seen;
    Log const log{[&](LogLevel, std::string_view message) { seen = message; }};
    log.write(LogLevel::info, "k", std::string(100'000, 'x'));
    EXPECT_LT(seen.size(), 3'000u);
    EXPECT_TRUE(seen.ends_with("x…"));
}

TEST(Log, NeverThrows) {
    Log const silent;
    silent.write(LogLevel::info, "k", "x");
    Log const throwing{[](LogLevel, std::string_view) { throw std::runtime_error{"full"}; }};
    EXPECT_NO_THROW(throwing.write(LogLevel::info, "k", "x"));
}

TEST(Log, MayBeUsedFromManyThreads) {
    std::atomic<int> calls{0};
    Log const log{[&](LogLevel, std::string_view) { ++calls; }};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&log, i] {
            for (int j = 0; j < 1'000; ++j) log.write(LogLevel::info, i % 2 ? "odd" : "even", "x");
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace rollcall

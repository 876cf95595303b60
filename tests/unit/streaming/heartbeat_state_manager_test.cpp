#include "rollcall/streaming/heartbeat_state_manager.hpp"

#include <atomic>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using test::rows;
using test::text;
using Time = HeartbeatStateManager::Time;

std::string name(UpdateDecision decision) {
    switch (decision) {
        case UpdateDecision::no_update:
            return "no_update";
        case UpdateDecision::heartbeat_only:
            return "heartbeat_only";
        case UpdateDecision::metadata_update:
            return "metadata_update";
    }
    return "?";
}

HeartbeatConfig config_in(boost::json::object const& row) {
    HeartbeatConfig config;
    config.heartbeat_interval = std::chrono::milliseconds{row.at("interval_ms").as_int64()};
    config.enable_metadata_change_detection = row.at("detect").as_bool();
    config.metadata_update_interval = std::chrono::seconds{row.at("update_interval_s").as_int64()};
    return config;
}

HeartbeatConfig detecting(std::chrono::seconds update_interval) {
    HeartbeatConfig config;
    config.enable_metadata_change_detection = true;
    config.metadata_update_interval = update_interval;
    return config;
}

/// Runs the steps of a case; `decision` is what the last `decide` gave, which `mark` marks.
class Player {
public:
    explicit Player(HeartbeatConfig config) : manager_(config) {}

    void play(boost::json::object const& step) {
        TRACE_ROW(step);
        auto const service = text(step, "service", "s");
        auto const id = text(step, "instance", "i");
        Time const now{step.at("now").as_int64()};
        auto const metadata =
            step.contains("metadata") ? test::metadata(step.at("metadata")) : Metadata{};
        auto const what = text(step, "do");
        if (what == "decide") {
            decision_ = manager_.decide(service, id, metadata, now);
            EXPECT_EQ(name(decision_), text(step, "expect"));
        } else if (what == "mark") {
            manager_.mark_written(service, id, decision_, metadata, now);
        } else if (what == "register") {
            manager_.mark_registered(service, id, metadata, now);
        } else if (what == "forget") {
            manager_.forget(service, id);
        } else {
            ADD_FAILURE() << "unknown step";
        }
    }

private:
    HeartbeatStateManager manager_;
    UpdateDecision decision_ = UpdateDecision::no_update;
};

TEST(HeartbeatStateManager, FollowsEveryVector) {
    for (auto const& value : rows("heartbeat_decisions", "cases")) {
        auto const& row = value.as_object();
        SCOPED_TRACE(text(row, "id"));
        Player player{config_in(row.at("config").as_object())};
        for (auto const& step : row.at("steps").as_array()) player.play(step.as_object());
    }
}

TEST(HeartbeatStateManager, Defect9_RegistrationSeedsTheDescription) {
    HeartbeatStateManager manager{detecting(0s)};
    manager.mark_registered("s", "i", {{"a", "b"}}, 1'000ms);
    EXPECT_EQ(manager.decide("s", "i", {{"a", "b"}}, 2'000ms), UpdateDecision::heartbeat_only);
}

TEST(HeartbeatStateManager, Defect10_NoMetadataIsNoTrouble) {
    HeartbeatStateManager manager{detecting(0s)};
    manager.mark_registered("s", "i", {}, 1'000ms);
    EXPECT_EQ(manager.decide("s", "i", {}, 2'000ms), UpdateDecision::heartbeat_only);
}

TEST(HeartbeatStateManager, Defect19_HeartbeatsAreDueWithoutAnythingToReport) {
    HeartbeatStateManager manager;
    for (Time now = 1'000ms; now < 60s; now += 3s) {
        ASSERT_EQ(manager.decide("s", "i", {}, now), UpdateDecision::heartbeat_only);
        manager.mark_written("s", "i", UpdateDecision::heartbeat_only, {}, now);
    }
}

TEST(HeartbeatStateManager, Defect55_DifferentDescriptionsNeverLookAlike) {
    // Each pair has the same 32-bit hash as a Java map.
    std::vector<std::pair<Metadata, Metadata>> const pairs{
        {{{"a", "b"}}, {{"b", "a"}}},
        {{{"Aa", "x"}}, {{"BB", "x"}}},
        {{{"a", "a"}}, {{"b", "b"}}},
        {{{"k", "Aa"}, {"l", "BB"}}, {{"k", "BB"}, {"l", "Aa"}}},
    };
    for (auto const& [before, after] : pairs) {
        HeartbeatStateManager manager{detecting(0s)};
        manager.mark_registered("s", "i", before, 1'000ms);
        EXPECT_EQ(manager.decide("s", "i", after, 2'000ms), UpdateDecision::metadata_update);
        EXPECT_EQ(manager.decide("s", "i", before, 2'000ms), UpdateDecision::heartbeat_only);
    }
}

TEST(HeartbeatStateManager, IsAskedWithoutADescription) {
    HeartbeatStateManager manager{detecting(0s)};
    manager.mark_registered("s", "i", {{"a", "b"}}, 1'000ms);
    EXPECT_EQ(manager.decide("s", "i", 1'000ms), UpdateDecision::heartbeat_only);
    manager.mark_written("s", "i", UpdateDecision::heartbeat_only, {}, 1'000ms);
    EXPECT_EQ(manager.decide("s", "i", 3'999ms), UpdateDecision::no_update);
    EXPECT_EQ(manager.decide("s", "i", 4'000ms), UpdateDecision::heartbeat_only);
}

TEST(HeartbeatStateManager, TheLongestIntervalIsLong) {
    HeartbeatStateManager manager{detecting(std::chrono::seconds::max())};
    manager.mark_registered("s", "i", {{"a", "b"}}, 1'000ms);
    EXPECT_EQ(manager.decide("s", "i", {{"a", "c"}}, 9'000ms), UpdateDecision::heartbeat_only);
}

TEST(HeartbeatStateManager, KeepsStatesOfMarkedInstancesOnly) {
    HeartbeatStateManager manager{detecting(0s)};
    for (int i = 0; i < 1'000; ++i) manager.decide("s", std::to_string(i), {{"a", "b"}}, 1'000ms);
    EXPECT_EQ(manager.size(), 0u);
    manager.mark_written("s", "a", UpdateDecision::no_update, {}, 1'000ms);
    EXPECT_EQ(manager.size(), 0u);
    manager.mark_written("s", "a", UpdateDecision::heartbeat_only, {}, 1'000ms);
    manager.mark_registered("s", "b", {}, 1'000ms);
    manager.mark_registered("s", "b", {}, 2'000ms);
    EXPECT_EQ(manager.size(), 2u);
    manager.forget("s", "a");
    manager.forget("s", "nobody");
    EXPECT_EQ(manager.size(), 1u);
}

TEST(HeartbeatStateManager, CanBeMoved) {
    HeartbeatStateManager first{detecting(0s)};
    first.mark_registered("s", "i", {{"a", "b"}}, 1'000ms);
    auto second = std::move(first);
    EXPECT_EQ(second.size(), 1u);
    EXPECT_EQ(second.decide("s", "i", {{"a", "c"}}, 1'001ms), UpdateDecision::metadata_update);
}

TEST(HeartbeatStateManager, MayBeUsedFromManyThreads) {
    HeartbeatStateManager manager{detecting(0s)};
    std::atomic<int> metadata_updates = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&manager, &metadata_updates, t] {
            for (int i = 0; i < 500; ++i) {
                auto const id = std::to_string(i);
                Metadata const metadata{{"turn", std::to_string(t)}};
                Time const now{i};
                auto const decision = manager.decide("s", id, metadata, now);
                if (decision == UpdateDecision::metadata_update) ++metadata_updates;
                manager.mark_written("s", id, decision, metadata, now);
                if (i % 7 == 0) manager.forget("s", id);
            }
        });
    }
    threads.clear();
    EXPECT_GE(metadata_updates, 500);
    EXPECT_LE(manager.size(), 500u);
}

}  // namespace
}  // namespace rollcall::streaming

// What handles make of their options, over a Redis.

#include <chrono>
#include <gmock/gmock.h>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

class LiveBalancing : public LiveTest {
protected:
    static ServiceOptions by(Balancer balancer) {
        ServiceOptions options;
        options.balancer = balancer;
        return options;
    }
    Service handle(Registry const& registry, ServiceOptions const& options) {
        return watched(registry, "web", options);
    }
    static std::map<std::string, int> counts(Service const& service, int draws) {
        std::map<std::string, int> counted;
        for (int i = 0; i < draws; ++i) ++counted[service.choose()->instance_id];
        return counted;
    }
};

INSTANTIATE_TEST_SUITE_P(Layouts, LiveBalancing, testing::Values("streaming", "cosky"),
                         [](auto const& layout) { return std::string{layout.param}; });

TEST_P(LiveBalancing, EachHandleChoosesByItsOwnBalancer) {
    Owners owners{server.url(), layout()};
    for (int i = 1; i <= 3; ++i) owners.add(instance(i));
    auto const registry = reader();
    auto const in_turn = handle(registry, by(RoundRobin{}));
    auto const other = handle(registry, by(RoundRobin{}));
    auto const by_key = handle(registry, by(ConsistentHash{}));
    std::map<std::string, int> turns;
    for (int i = 0; i < 30; ++i) {
        ++turns[in_turn.choose()->instance_id];
        (void)other.choose();
    }
    EXPECT_THAT(turns, testing::Each(testing::Pair(testing::_, 10)));
    EXPECT_EQ(turns.size(), 3U);
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        auto const key = std::to_string(i);
        auto const chosen = by_key.choose({.key = key});
        EXPECT_EQ(by_key.choose({.key = key})->instance_id, chosen->instance_id);
        seen.insert(chosen->instance_id);
    }
    EXPECT_EQ(seen.size(), 3U);
}

TEST_P(LiveBalancing, FollowsEveryChange) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = handle(registry, by(RoundRobin{}));
    EXPECT_EQ(counts(service, 10).size(), 1U);
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_THAT(counts(service, 10),
                testing::ElementsAre(testing::Pair(id(1), 5), testing::Pair(id(2), 5)));
    owners.remove(id(1));
    EXPECT_TRUE(shows(service, {id(2)}));
    EXPECT_THAT(counts(service, 10), testing::ElementsAre(testing::Pair(id(2), 10)));
}

TEST_P(LiveBalancing, LeavesOutWhomTheCallerExcludes) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto const service = handle(registry, {});
    std::vector<std::string> const ids{id(1), id(2)};
    std::string_view const first = ids[0];
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(service.choose({.exclude = {&first, 1}})->instance_id, id(2));
    }
    std::vector<std::string_view> const all{ids[0], ids[1]};
    EXPECT_FALSE(service.choose({.exclude = all}));
    EXPECT_FALSE(service.start_call({.exclude = all}));
}

TEST_P(LiveBalancing, CountsCallsUntilTheyEnd) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto const service = handle(registry, by(LeastOutstanding{}));
    auto first = std::make_optional(service.start_call());
    ASSERT_TRUE(*first);
    auto const busy = (*first)->instance_id;
    // Also handles of other options count.
    auto const idle = handle(registry, {}).start_call({.exclude = {}});
    auto moved = std::move(*first);
    EXPECT_FALSE(*first);
    first.reset();
    auto another = service.start_call();
    std::set<std::string> const both{moved->instance_id, another->instance_id, idle->instance_id};
    EXPECT_EQ(moved->instance_id, busy);
    EXPECT_EQ(both.size(), 2U) << "nobody has three while one has none";
    another.succeeded();
    another.failed();
    another.end(CallOutcome::failed, 1s);
    EXPECT_TRUE(another) << "its instance is still there";
    another = Call{};
    moved = Call{};
}

TEST_P(LiveBalancing, TakesOutWhoFails) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto options = by(RoundRobin{});
    options.ejection = {.consecutive_failures = 3};
    auto const service = handle(registry, options);
    for (int i = 0; i < 20; ++i) {
        auto call = service.start_call();
        call->instance_id == id(1) ? call.failed() : call.succeeded();
    }
    EXPECT_THAT(counts(service, 20), testing::ElementsAre(testing::Pair(id(2), 20)));
    EXPECT_EQ(counts(handle(registry, by(RoundRobin{})), 20).size(), 2U);
}

TEST_P(LiveBalancing, StartsSlowlyWhoComesLater) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto options = by(WeightedRandom{});
    options.slow_start = std::chrono::hours{10};
    auto const service = handle(registry, options);
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    auto const counted = counts(service, 11'000);
    EXPECT_NEAR(counted.at(id(2)), 1'000, 200);
}

TEST_P(LiveBalancing, StaysNearWhileItCan) {
    Owners owners{server.url(), layout()};
    for (int i = 1; i <= 4; ++i) {
        auto made = instance(i);
        made.metadata = {{"zone", i <= 2 ? "a" : "b"}};
        owners.add(made);
    }
    auto const registry = reader();
    ServiceOptions options;
    options.locality.zone = "b";
    auto const service = handle(registry, options);
    EXPECT_THAT(counts(service, 100),
                testing::UnorderedElementsAre(testing::Key(id(3)), testing::Key(id(4))));
    owners.remove(id(3));
    owners.remove(id(4));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_EQ(counts(service, 100).size(), 2U);
}

TEST_P(LiveBalancing, RefusesOptionsThatMakeNoSense) {
    auto const registry = reader();
    ServiceOptions options;
    options.locality.enough = 2;
    EXPECT_THROW((void)registry.service("web", options), std::invalid_argument);
    EXPECT_EQ(registry.stats().services, 0U) << "nothing is watched for it";
}

TEST_P(LiveBalancing, ReportsWhyNobodyCouldBeChosen) {
    auto const registry = reader();
    std::error_code error = make_error_code(std::errc::io_error);
    EXPECT_FALSE(handle(registry, {}).start_call(error));
    EXPECT_FALSE(error) << "nobody is there, and that is no failure";
    EXPECT_FALSE(handle(registry, by(RoundRobin{})).choose({.key = "key"}, error));
    EXPECT_FALSE(error);
}

}  // namespace
}  // namespace rollcall::live::test

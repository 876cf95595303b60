// What all four have in common, and the two that look at weights.

#include "rollcall/streaming/load_balancer.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "balance/smooth_round_robin.hpp"
#include "streaming/candidates.hpp"
#include "unit/balance/chi_square.hpp"
#include "unit/streaming/balanced.hpp"
#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/consistent_hash_load_balancer.hpp"
#include "rollcall/streaming/scored_load_balancer.hpp"
#include "rollcall/streaming/weighted_random_load_balancer.hpp"
#include "rollcall/streaming/weighted_round_robin_load_balancer.hpp"

namespace rollcall::streaming {
namespace {

using test::choose;
using test::choose_often;
using test::Instances;
using test::weighted;
using Names = std::vector<std::string>;

std::vector<std::shared_ptr<LoadBalancer>> all_balancers() {
    return {std::make_shared<WeightedRandomLoadBalancer>(),
            std::make_shared<WeightedRoundRobinLoadBalancer>(),
            std::make_shared<ConsistentHashLoadBalancer>(), std::make_shared<ScoredLoadBalancer>()};
}

Instances instances_of(test::json::value const& rows) {
    Instances made;
    for (auto const& row : rows.as_array()) made.push_back(test::instance(row.as_object()));
    return made;
}

Names names_of(test::json::value const& texts) {
    Names names;
    for (auto const& text : texts.as_array()) names.emplace_back(text.as_string());
    return names;
}

TEST(LoadBalancer, ChoosesNobodyOfNobody) {
    for (auto const& balancer : all_balancers()) {
        EXPECT_EQ(balancer->choose("svc", {}, {}), nullptr);
        EXPECT_EQ(balancer->choose("svc", {}, {.key = "k"}), nullptr);
    }
}

TEST(LoadBalancer, ChoosesASingleCandidateWhateverItIs) {
    auto one = weighted({-3});
    one.front().enabled = false;
    one.front().healthy = false;
    for (auto const& balancer : all_balancers()) {
        EXPECT_EQ(balancer->choose("svc", one, {}), one.data());
        EXPECT_EQ(balancer->choose("svc", one, {.key = "k"}), one.data());
    }
}

TEST(LoadBalancer, NeverChoosesWhoIsExcluded) {
    auto const candidates = weighted({100, 1, 1});
    std::array<std::string_view, 2> const two{"i1", "nobody"};
    std::array<std::string_view, 2> const both{"i3", "i1"};
    std::array<std::string_view, 3> const all{"i1", "i2", "i3"};
    for (auto const& balancer : all_balancers()) {
        for (int i = 0; i < 50; ++i) {
            auto const key = std::to_string(i);
            EXPECT_NE(choose(*balancer, candidates, {.key = key, .exclude = two}), "i1");
            EXPECT_NE(choose(*balancer, candidates, {.exclude = two}), "i1");
            EXPECT_EQ(choose(*balancer, candidates, {.key = key, .exclude = both}), "i2");
            EXPECT_EQ(choose(*balancer, candidates, {.key = key, .exclude = all}), "");
        }
    }
}

TEST(LoadBalancer, PointsIntoTheCandidates) {
    auto const candidates = weighted({1, 2, 3, 4});
    for (auto const& balancer : all_balancers()) {
        for (int i = 0; i < 20; ++i) {
            auto const* const chosen = balancer->choose("svc", candidates, {.key = "k"});
            EXPECT_GE(chosen, candidates.data());
            EXPECT_LT(chosen, candidates.data() + candidates.size());
        }
    }
}

TEST(EffectiveWeight, IsTheDocumentedOne) {
    for (auto const& row : test::rows("choices", "weights")) {
        TRACE_ROW(row);
        auto const instance = test::instance(row.at("instance").as_object());
        EXPECT_EQ(effective_weight(instance), row.at("expect").as_int64());
    }
}

TEST(WeightedRandom, IsInProportionToTheWeights) {
    WeightedRandomLoadBalancer balancer;
    auto candidates = weighted({3, 0, 2, 40, 1});
    candidates[4].metadata["weight"] = "25";
    std::vector<std::uint64_t> const expected{3, 1, 2, 40, 25};
    std::vector<std::uint64_t> counted(candidates.size());
    for (int i = 0; i < 200'000; ++i) {
        ++counted[static_cast<std::size_t>(balancer.choose("svc", candidates, {}) -
                                           candidates.data())];
    }
    // Random numbers of a thread cannot be chosen: five standard deviations are exceeded once in
    // three million runs.
    EXPECT_LT(balance::test::deviation(counted, expected), 5);
}

TEST(WeightedRandom, Defect48SumsOfWeightsDoNotOverflow) {
    constexpr auto most = std::numeric_limits<int>::max();
    WeightedRandomLoadBalancer random;
    WeightedRoundRobinLoadBalancer robin;
    auto const candidates = weighted({most, most, most});
    std::map<std::string, int> drawn;
    for (int i = 0; i < 3000; ++i) ++drawn[choose(random, candidates)];
    for (auto const& [id, count] : drawn) EXPECT_NEAR(count, 1000, 150);
    EXPECT_EQ(drawn.size(), 3U);
    EXPECT_EQ(choose_often(robin, candidates, 4), (Names{"i1", "i2", "i3", "i1"}));
    auto const uneven = weighted({most, most - 1, most});
    std::map<std::string, int> taken;
    for (int i = 0; i < 3000; ++i) ++taken[choose(robin, uneven)];
    for (auto const& [id, count] : taken) EXPECT_NEAR(count, 1000, 1);
}

TEST(WeightedRoundRobin, IsTheDocumentedSequence) {
    for (auto const& row : test::rows("choices", "round_robin")) {
        TRACE_ROW(row);
        WeightedRoundRobinLoadBalancer balancer;
        auto const expected = names_of(row.at("expect"));
        EXPECT_EQ(choose_often(balancer, instances_of(row.at("instances")), expected.size()),
                  expected);
    }
}

TEST(WeightedRoundRobin, Defect50AlternatingListsDoNotWipeEachOther) {
    WeightedRoundRobinLoadBalancer balancer;
    auto const all = weighted({5, 1, 1});
    auto const some = weighted({2, 1});
    std::map<std::string, int> of_all;
    std::map<std::string, int> of_some;
    for (int i = 0; i < 21; ++i) {
        ++of_all[choose(balancer, all)];
        ++of_some[choose(balancer, some)];
    }
    EXPECT_EQ(of_all, (std::map<std::string, int>{{"i1", 15}, {"i2", 3}, {"i3", 3}}));
    EXPECT_EQ(of_some, (std::map<std::string, int>{{"i1", 14}, {"i2", 7}}));
}

TEST(WeightedRoundRobin, KeepsServicesApart) {
    WeightedRoundRobinLoadBalancer balancer;
    auto const candidates = weighted({1, 1, 1});
    for (std::string const service : {"a", "b", "a", "b"}) {
        auto const* const chosen = balancer.choose(service, candidates, {});
        ASSERT_NE(chosen, nullptr);
        static_cast<void>(balancer.choose(service, candidates, {}));
        static_cast<void>(balancer.choose(service, candidates, {}));
        EXPECT_EQ(chosen->instance_id, "i1") << service;
    }
}

TEST(WeightedRoundRobin, FollowsChangesOfWeightsAndIds) {
    WeightedRoundRobinLoadBalancer balancer;
    auto candidates = weighted({1, 1});
    choose_often(balancer, candidates, 10);
    candidates[0].metadata["weight"] = "3";
    auto chosen = choose_often(balancer, candidates, 4);
    EXPECT_EQ(std::ranges::count(chosen, "i1"), 3);
    candidates[0].metadata.clear();
    candidates[0].instance_id = "i9";
    chosen = choose_often(balancer, candidates, 4);
    EXPECT_EQ(std::ranges::count(chosen, "i9"), 2);
    EXPECT_EQ(std::ranges::count(chosen, "i2"), 2);
}

TEST(WeightedRoundRobin, MembershipThatFlapsFavoursNobody) {
    // Candidates come and go with every choice, so that no list is ever seen again.
    WeightedRoundRobinLoadBalancer balancer;
    std::map<std::string, int> counted;
    constexpr int choices = 2000;
    for (int i = 0; i < choices; ++i) {
        auto candidates = weighted({1, 1, 1, 1});
        candidates[3].instance_id = "flapping-" + std::to_string(i);
        auto const chosen = choose(balancer, candidates);
        ++counted[chosen.starts_with("flapping") ? "flapping" : chosen];
    }
    for (auto const& [id, count] : counted) EXPECT_NEAR(count, choices * 0.25, 5) << id;
    EXPECT_EQ(counted.size(), 4U);
}

TEST(WeightedRoundRobin, EachThreadGetsExactShares) {
    WeightedRoundRobinLoadBalancer balancer;
    auto const candidates = weighted({5, 1, 1});
    auto const expected = std::map<std::string, int>{{"i1", 500}, {"i2", 100}, {"i3", 100}};
    std::vector<std::map<std::string, int>> counted(4);
    std::vector<std::thread> threads;
    for (auto& own : counted) {
        threads.emplace_back([&] {
            for (int i = 0; i < 700; ++i) ++own[choose(balancer, candidates)];
        });
    }
    for (auto& thread : threads) thread.join();
    for (auto const& own : counted) EXPECT_EQ(own, expected);
}

TEST(WeightedRoundRobin, RemembersABoundedNumberOfLists) {
    WeightedRoundRobinLoadBalancer balancer;
    for (int i = 0; i < 3000; ++i) {
        auto const candidates = weighted({1 + i, 7});
        ASSERT_NE(balancer.choose("service-" + std::to_string(i), candidates, {}), nullptr);
    }
    auto const last = weighted({3000, 7});
    ASSERT_NE(balancer.choose("service-2999", last, {}), nullptr);
}

}  // namespace
}  // namespace rollcall::streaming

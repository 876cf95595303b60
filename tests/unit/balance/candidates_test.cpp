// Whom each policy chooses, of those who may get traffic.

#include "balance/candidates.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/crowd.hpp"
#include "unit/balance/chi_square.hpp"

namespace rollcall::balance {
namespace {

using namespace std::chrono_literals;
using rollcall::test::Crowd;
using rollcall::test::Handle;
using Weights = std::vector<std::uint64_t>;

// Of the chi-square distribution, in standard deviations: with these seeds none comes near.
constexpr double bound = 4;

class EachBalancer : public testing::TestWithParam<Balancer> {
protected:
    static Policy policy() {
        Policy made;
        made.balancer = GetParam();
        return made;
    }
    static bool by_key() { return std::holds_alternative<ConsistentHash>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Balancer, EachBalancer, testing::ValuesIn(rollcall::test::all_balancers()),
                         [](auto const& one) {
                             auto text = std::string{name(one.param)};
                             std::erase(text, '-');
                             return text;
                         });

TEST_P(EachBalancer, ChoosesInProportionToTheWeights) {
    Crowd crowd{1, 2, 3, 40, 100, 7};
    Handle handle{crowd, policy()};
    // Of two that are alike it is the first, and the first is drawn by weight.
    EXPECT_LT(test::deviation(handle.counts(100'000), Weights{1, 2, 3, 40, 100, 7}), bound);
}

TEST_P(EachBalancer, ChoosesEvenlyAmongEqualWeights) {
    auto crowd = Crowd::of(300, 7);
    Handle handle{crowd, policy()};
    EXPECT_LT(test::deviation(handle.counts(150'000), Weights(300, 1)), bound);
}

TEST_P(EachBalancer, GivesNothingToWhomMayGetNone) {
    Crowd crowd{5, 0, -3, 5, 5};
    crowd.set_able(3, false);
    Handle handle{crowd, policy()};
    auto const counted = handle.counts(10'000);
    EXPECT_EQ(counted[1], 0U);
    EXPECT_EQ(counted[2], 0U);
    EXPECT_EQ(counted[3], 0U);
    EXPECT_NEAR(static_cast<double>(counted[0]), 5'000, 300);
    EXPECT_EQ(handle.choose("key").value_or(0) % 4, 0U);
}

TEST_P(EachBalancer, ChoosesNobodyWhereNobodyMayGetTraffic) {
    Crowd nobody;
    EXPECT_FALSE(Handle(nobody, policy()).choose());
    EXPECT_FALSE(Handle(nobody, policy()).choose("key"));
    Crowd weightless{0, 0, -1};
    EXPECT_FALSE(Handle(weightless, policy()).choose());
    EXPECT_FALSE(Handle(weightless, policy()).choose("key"));
}

TEST_P(EachBalancer, TakesTheGreatestWeights) {
    auto const most = std::numeric_limits<std::int32_t>::max();
    auto crowd = Crowd::of(1'000, most);
    crowd.add(1);
    Handle handle{crowd, policy()};
    Weights expected(1'001, 1);
    expected.back() = 0;
    auto counted = handle.counts(200'000);
    EXPECT_LE(counted.back(), 1U);
    counted.back() = 0;
    EXPECT_LT(test::deviation(counted, expected), bound);
}

TEST_P(EachBalancer, NeverChoosesWhoIsExcluded) {
    Crowd crowd{1, 2, 3, 4};
    Handle handle{crowd, policy()};
    std::vector<std::string_view> ids{crowd.instance(3).instance_id, "nobody",
                                      crowd.instance(1).instance_id};
    ChooseOptions options;
    options.exclude = ids;
    auto const counted = handle.counts(40'000, options);
    // In turn it is the next in order that has the turns of who is excluded.
    if (!std::holds_alternative<RoundRobin>(GetParam())) {
        EXPECT_LT(test::deviation(counted, Weights{1, 0, 3, 0}), bound);
    }
    EXPECT_EQ(counted[1] + counted[3], 0U);
    EXPECT_EQ(counted[0] + counted[2], 40'000U);
    options.key = "key";
    EXPECT_EQ(handle.choose(options).value_or(1) % 2, 0U);

    ids = {crowd.instance(0).instance_id, crowd.instance(1).instance_id,
           crowd.instance(2).instance_id, crowd.instance(3).instance_id};
    options.exclude = ids;
    EXPECT_FALSE(handle.choose(options)) << "nobody rather than who is excluded";
}

TEST_P(EachBalancer, ExcludesAllButOneOfMany) {
    auto crowd = Crowd::of(2'000, 3);
    Handle handle{crowd, policy()};
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < 2'000; ++i) {
        if (i != 1'234) ids.push_back(crowd.instance(i).instance_id);
    }
    ChooseOptions options;
    options.exclude = ids;
    EXPECT_EQ(handle.choose(options), 1'234U);
    options.key = "key";
    EXPECT_EQ(handle.choose(options), 1'234U);
}

TEST_P(EachBalancer, IsNotBiasedByMembersThatComeAndGo) {
    Crowd crowd{2, 1, 1, 1, 3};
    Handle handle{crowd, policy()};
    Weights counted(5);
    for (int i = 0; i < 40'000; ++i) {
        crowd.set_there(4, i % 2 == 0);
        handle.look();
        ++counted[*handle.choose()];
    }
    // The last is there every other time, and has 3 of 8 then.
    Weights const expected{8 * 2 + 5 * 2, 13, 13, 13, 5 * 3};
    EXPECT_LT(test::deviation(counted, expected), bound);
}

TEST_P(EachBalancer, GivesNewcomersTheirPartOfTheTraffic) {
    auto crowd = Crowd::of(10);
    Handle handle{crowd, [] {
                      auto made = policy();
                      made.slow_start = 100s;
                      return made;
                  }()};
    crowd.stats(3).appeared_at.set(handle.now);
    handle.look();
    // How many of its keys it has is a matter of the ring.
    auto const share = [&] {
        std::uint64_t its = 0;
        for (int i = 0; i < 40'000; ++i) {
            its += (by_key() ? handle.choose(std::to_string(i)) : handle.choose()) == 3U ? 1 : 0;
        }
        return static_cast<double>(its) / 40'000;
    };
    auto const at_first = share();
    handle.now += 50s;
    auto const half_way = share();
    handle.now += 50s;
    auto const full = share();
    auto const expect = [&](double seen, double part) {
        auto const expected = by_key() ? full * part : part / (9 + part);
        EXPECT_NEAR(seen, expected, 0.01) << part;
    };
    expect(at_first, 0.1);
    expect(half_way, 0.55);
    EXPECT_NEAR(full, 0.1, by_key() ? 0.04 : 0.01);
}

TEST_P(EachBalancer, TakesOnlyNewcomersAsTheyAre) {
    Crowd crowd{1, 1, 2};
    auto slow = policy();
    slow.slow_start = 100s;
    Handle handle{crowd, slow};
    for (std::size_t i = 0; i < 3; ++i) crowd.stats(i).appeared_at.set(handle.now);
    handle.look();
    auto const counted = handle.counts(40'000);
    // In turn the turns that are refused go to whoever is accepted next.
    EXPECT_LT(test::deviation(counted, Weights{1, 1, 2}),
              std::holds_alternative<RoundRobin>(GetParam()) ? 10 : bound);
    EXPECT_TRUE(handle.choose("key"));
}

TEST_P(EachBalancer, LeavesOutWhoIsOutUntilItsTimeIsOver) {
    Crowd crowd{1, 1, 1, 1};
    auto ejecting = policy();
    ejecting.ejection = {.consecutive_failures = 3, .base_time = 10s, .longest_time = 60s};
    Handle handle{crowd, ejecting};
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(crowd.stats(2).is_out(handle.now));
        crowd.stats(2).begin();
        handle.end(2, CallOutcome::failed);
    }
    EXPECT_EQ(handle.counts(4'000)[2], 0U);
    for (int i = 0; i < 100; ++i) EXPECT_NE(handle.choose(std::to_string(i)), 2U);
    handle.now += 10s;
    crowd.stats(2).failing = 0;  // Those who compare keep away from it for longer.
    EXPECT_NEAR(static_cast<double>(handle.counts(4'000)[2]), 1'000, 150);
}

TEST_P(EachBalancer, TakesWhoIsOutRatherThanNobody) {
    Crowd crowd{1, 1};
    auto ejecting = policy();
    ejecting.ejection = {.consecutive_failures = 1, .at_most = 1};
    Handle handle{crowd, ejecting};
    for (std::size_t const i : {0U, 1U}) {
        crowd.stats(i).begin();
        handle.end(i, CallOutcome::failed);
    }
    auto const counted = handle.counts(1'000);
    EXPECT_GT(counted[0], 300U);
    EXPECT_GT(counted[1], 300U);
    EXPECT_TRUE(handle.choose("key"));
}

TEST_P(EachBalancer, StaysInTheZoneWhileEnoughOfItIsThere) {
    Crowd crowd;
    for (int i = 0; i < 4; ++i) crowd.add(1, {{"zone", "a"}, {"region", "x"}});
    for (int i = 0; i < 4; ++i) crowd.add(1, {{"zone", "b"}, {"region", "x"}});
    for (int i = 0; i < 4; ++i) crowd.add(1, {{"zone", "c"}, {"region", "y"}});
    auto near = policy();
    near.locality.zone = "a";
    near.locality.region = "x";
    near.locality.enough = 0.75;
    Handle handle{crowd, near};
    auto const by_level = [&] {
        std::array<double, 3> counted{};
        for (int i = 0; i < 30'000; ++i) {
            auto const chosen = by_key() ? handle.choose(std::to_string(i)) : handle.choose();
            if (chosen) counted[*chosen / 4] += 1.0 / 30'000;
        }
        return counted;
    };
    EXPECT_NEAR(by_level()[0], 1, 1e-9);
    crowd.set_able(0, false);
    handle.look();
    EXPECT_NEAR(by_level()[0], 1, 1e-9) << "three of four are enough";
    crowd.set_able(1, false);
    handle.look();
    auto levels = by_level();
    EXPECT_NEAR(levels[0], 2 / 3.0, 0.02);
    EXPECT_NEAR(levels[1], 1 / 3.0, 0.02);
    for (std::size_t const i : {2U, 3U}) crowd.set_able(i, false);
    for (std::size_t const i : {4U, 5U, 6U}) crowd.set_able(i, false);
    handle.look();
    levels = by_level();
    EXPECT_NEAR(levels[0], 0, 1e-9) << "the zone is lost";
    EXPECT_NEAR(levels[1], 1 / 3.0, 0.02);
    EXPECT_NEAR(levels[2], 2 / 3.0, 0.02);
    for (std::size_t i = 8; i < 12; ++i) crowd.set_able(i, false);
    handle.look();
    EXPECT_NEAR(by_level()[1], 1, 1e-9) << "who is left takes it all";
}

TEST_P(EachBalancer, LeavesTheZoneRatherThanTakingWhoIsExcludedOrOut) {
    Crowd crowd;
    crowd.add(1, {{"zone", "a"}});
    crowd.add(1, {{"zone", "b"}});
    auto near = policy();
    near.locality.zone = "a";
    near.ejection = {.consecutive_failures = 1, .at_most = 0.5};
    Handle handle{crowd, near};
    EXPECT_EQ(handle.choose(), 0U);
    std::string_view const first = crowd.instance(0).instance_id;
    ChooseOptions options;
    options.exclude = {&first, 1};
    EXPECT_EQ(handle.choose(options), 1U);
    crowd.stats(0).begin();
    handle.end(0, CallOutcome::failed);
    EXPECT_EQ(handle.choose(), 1U);
}

TEST(Candidates, KeepATurnOfEachLevel) {
    Crowd crowd;
    for (int i = 0; i < 4; ++i) crowd.add(1, {{"zone", i < 2 ? "a" : "b"}});
    crowd.set_able(0, false);
    Policy near;
    near.balancer = RoundRobin{};
    near.locality = {.zone = "a", .enough = 1};
    Handle handle{crowd, near};
    auto const counted = handle.counts(30'000);
    EXPECT_LE(counted[2] > counted[3] ? counted[2] - counted[3] : counted[3] - counted[2], 1U);
}

TEST(Candidates, PutOutNoMoreThanTheyMay) {
    auto crowd = Crowd::of(10);
    Policy ejecting;
    ejecting.ejection = {.consecutive_failures = 1, .at_most = 0.35};
    Handle handle{crowd, ejecting};
    std::size_t out = 0;
    for (std::size_t i = 0; i < 10; ++i) {
        crowd.stats(i).begin();
        handle.end(i, CallOutcome::failed);
        out += crowd.stats(i).is_out(handle.now) ? 1 : 0;
    }
    EXPECT_EQ(out, 3U);
    ejecting.ejection.at_most = 0;
    Handle never{crowd, ejecting};
    never.now += 1h;
    crowd.stats(5).begin();
    never.end(5, CallOutcome::failed);
    EXPECT_FALSE(crowd.stats(5).is_out(never.now));
}

TEST(Candidates, ShareWhatTheyKnowOfWhoIsOut) {
    Crowd crowd{2, 1};
    auto const outliers = std::make_shared<Outliers>();
    Policy ejecting;
    ejecting.ejection = {.consecutive_failures = 1};
    Handle one{crowd, ejecting, outliers};
    ejecting.balancer = RoundRobin{};
    Handle other{crowd, ejecting, outliers};
    Handle indifferent{crowd, {}, outliers};
    crowd.stats(0).begin();
    one.end(0, CallOutcome::failed);
    EXPECT_EQ(other.counts(100)[0], 0U);
    EXPECT_GT(indifferent.counts(100)[0], 0U) << "who has no rule does not look at it";
}

TEST(Candidates, DoNotLookAtTheClockUnlessSomethingDependsOnIt) {
    auto crowd = Crowd::of(10);
    for (auto const& balancer : rollcall::test::all_balancers()) {
        Policy policy;
        policy.balancer = balancer;
        policy.slow_start = 1h;
        policy.ejection.consecutive_failures = 5;
        Candidates const candidates{
            std::make_shared<Plan const>(policy, std::make_shared<Outliers>()), crowd.members(),
            nullptr};
        Turns turns;
        Random random{1};
        Moment moment;
        EXPECT_NE(candidates.choose({}, random, moment, &turns), nullptr);
        EXPECT_FALSE(moment.known()) << name(balancer);
    }
}

TEST(Candidates, DoNotLookAtTheClockOnceNobodyIsOutOrNewAnyMore) {
    Crowd crowd{1, 1};
    Policy policy;
    policy.slow_start = 1s;
    policy.ejection = {.consecutive_failures = 1, .base_time = 1ms};
    crowd.stats(0).appeared_at.set(Moment::Time{1h});
    Candidates const candidates{std::make_shared<Plan const>(policy, std::make_shared<Outliers>()),
                                crowd.members(), nullptr};
    Moment then{Moment::Time{1h}};
    crowd.stats(1).begin();
    candidates.end_call(crowd.stats(1), CallOutcome::failed, {}, then);
    Random random{1};
    Moment unknown;
    EXPECT_NE(candidates.choose({}, random, unknown, nullptr), nullptr);
    EXPECT_TRUE(unknown.known());
    Moment later{Moment::Time{2h}};
    EXPECT_NE(candidates.choose({}, random, later, nullptr), nullptr);
    unknown = {};
    EXPECT_NE(candidates.choose({}, random, unknown, nullptr), nullptr);
    EXPECT_FALSE(unknown.known());
}

TEST(ConsistentHash, SendsEqualKeysToTheSame) {
    auto crowd = Crowd::of(20, 3);
    Policy policy;
    policy.balancer = ConsistentHash{};
    Handle handle{crowd, policy};
    Handle other{crowd, policy};
    std::set<std::size_t> seen;
    for (int i = 0; i < 1'000; ++i) {
        auto const key = "user-" + std::to_string(i);
        auto const chosen = handle.choose(key);
        ASSERT_TRUE(chosen);
        EXPECT_EQ(handle.choose(key), chosen);
        EXPECT_EQ(other.choose(key), chosen);
        seen.insert(*chosen);
    }
    EXPECT_EQ(seen.size(), 20U);
    EXPECT_TRUE(handle.choose(std::string_view{})) << "the empty key is one, too";
    EXPECT_EQ(handle.choose(""), other.choose(""));
    std::string const large(1 << 20, 'k');
    EXPECT_EQ(handle.choose(large), other.choose(large));
}

TEST(ConsistentHash, MovesOnlyTheKeysOfWhoComesOrGoes) {
    auto crowd = Crowd::of(30);
    Policy policy;
    policy.balancer = ConsistentHash{};
    Handle handle{crowd, policy};
    std::map<std::string, std::size_t> owner;
    for (int i = 0; i < 3'000; ++i) owner[std::to_string(i)] = *handle.choose(std::to_string(i));

    crowd.set_there(7, false);
    handle.look();
    for (auto const& [key, before] : owner) {
        auto const now = *handle.choose(key);
        if (before != 7) {
            EXPECT_EQ(now, before);
        } else {
            EXPECT_NE(now, 7U);
        }
    }
    crowd.set_there(7, true);
    auto const added = crowd.add(1);
    handle.look();
    std::size_t moved = 0;
    for (auto const& [key, before] : owner) {
        auto const now = *handle.choose(key);
        EXPECT_TRUE(now == before || now == added);
        moved += now == before ? 0 : 1;
    }
    EXPECT_NEAR(static_cast<double>(moved), 3'000.0 / 31, 60);

    // Who is excluded, or out, loses its keys to the same as if it were gone.
    std::string_view const out = crowd.instance(7).instance_id;
    std::map<std::string, std::size_t> without;
    for (auto const& [key, before] : owner) {
        ChooseOptions options;
        options.key = key;
        options.exclude = {&out, 1};
        without[key] = *handle.choose(options);
    }
    crowd.set_there(7, false);
    handle.look();
    for (auto const& [key, expected] : without) EXPECT_EQ(handle.choose(key), expected);
}

TEST(ConsistentHash, GivesEachAboutItsShare) {
    for (std::size_t const size : {2U, 10U, 100U}) {
        auto crowd = Crowd::of(size);
        Policy policy;
        policy.balancer = ConsistentHash{};
        Handle handle{crowd, policy};
        std::vector<double> counted(size);
        constexpr int keys = 100'000;
        for (int i = 0; i < keys; ++i) ++counted[*handle.choose(std::to_string(i))];
        auto const fair = 1.0 / static_cast<double>(size);
        auto const off = 4 * std::sqrt(fair * (1 - fair) / (128 * static_cast<double>(size)));
        for (auto const count : counted) EXPECT_NEAR(count / keys, fair, off + 0.002) << size;
    }
}

}  // namespace
}  // namespace rollcall::balance

// Which instances of a table may get traffic, by every balancer; what tables and their candidates
// share.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "balance/plan.hpp"
#include "registry/live/instance_table.hpp"
#include "registry/live/snapshot_cell.hpp"
#include "registry/live/table_draft.hpp"
#include "support/crowd.hpp"
#include "unit/balance/chi_square.hpp"
#include "unit/registry/live/failing_allocations.hpp"
#include "unit/registry/live/records.hpp"

namespace rollcall::live {
namespace {

using namespace std::chrono_literals;
using balance::Moment;
using balance::PlanPtr;
using balance::Policy;
using test::id_of;
using Weights = std::vector<std::uint64_t>;

/// A handle, as far as choosing goes.
class Chooser {
public:
    explicit Chooser(Policy policy)
        : plan_(std::make_shared<balance::Plan const>(std::move(policy),
                                                      std::make_shared<balance::Outliers>())) {}

    balance::Candidate const* candidate(InstanceTable const& table,
                                        ChooseOptions const& options = {}) {
        Moment moment;
        return table.candidates(plan_).choose(options, random_, moment, &turns_);
    }
    ServiceInstance const* choose(InstanceTable const& table, ChooseOptions const& options = {}) {
        auto const* const found = candidate(table, options);
        return found == nullptr ? nullptr : found->instance;
    }
    PlanPtr const& plan() const { return plan_; }

private:
    PlanPtr plan_;
    balance::Turns turns_;
    balance::Random random_{42};
};

class BalancedChoice : public testing::TestWithParam<Balancer> {
protected:
    Chooser chooser{[] {
        Policy policy;
        policy.balancer = GetParam();
        return policy;
    }()};

    /// Of the numbers below `size`.
    Weights counts(InstanceTable const& table, std::size_t size, int draws) {
        Weights counted(size);
        for (int i = 0; i < draws; ++i) {
            auto const* const chosen = chooser.choose(table);
            if (chosen != nullptr) ++counted.at(std::stoul(chosen->instance_id.substr(7)));
        }
        return counted;
    }
};

INSTANTIATE_TEST_SUITE_P(Balancer, BalancedChoice,
                         testing::ValuesIn(rollcall::test::all_balancers()), [](auto const& one) {
                             auto text = std::string{name(one.param)};
                             std::erase(text, '-');
                             return text;
                         });

enum class State { usual, disabled, unhealthy, suspect };

/// An instance as it is described, and the part of the traffic that it gets.
struct Row {
    int weight;
    State state;
    std::uint64_t part;
};

InstanceTablePtr table_of(std::vector<Row> const& rows) {
    TableDraft draft{*InstanceTable::empty_table()};
    for (std::size_t number = 0; number < rows.size(); ++number) {
        auto made = test::instance(number, rows[number].weight);
        made.enabled = rows[number].state != State::disabled;  // As of one that is drained.
        made.healthy = rows[number].state != State::unhealthy;
        InstanceState state;
        state.suspect = rows[number].state == State::suspect;
        draft.put(make_record(std::move(made), state));
    }
    return std::move(draft).finish();
}

TEST_P(BalancedChoice, FollowsTheRuleOfWhoMayGetTraffic) {
    using enum State;
    std::vector<std::vector<Row>> const tables{
        {{3, usual, 3}, {1, usual, 1}},
        {{3, usual, 3}, {0, usual, 0}, {-7, usual, 0}, {1, usual, 1}},
        {{3, disabled, 0}, {2, usual, 2}, {9, unhealthy, 0}, {1, usual, 1}},
        {{3, suspect, 0}, {2, usual, 2}, {1, usual, 1}},
        {{3, suspect, 3}, {2, suspect, 2}, {9, disabled, 0}, {9, unhealthy, 0}},
        {{3, suspect, 3}, {1, suspect, 1}, {0, usual, 0}},
        {{2'147'483'647, usual, 1}, {2'147'483'647, usual, 1}, {1, disabled, 0}},
        {{0, usual, 0}, {0, usual, 0}},
        {{-1, usual, 0}, {4, disabled, 0}, {5, unhealthy, 0}, {0, suspect, 0}},
        {},
    };
    for (auto const& rows : tables) {
        auto const table = table_of(rows);
        Weights expected;
        std::uint64_t all = 0;
        for (auto const& row : rows) expected.push_back(row.part), all += row.part;
        auto const counted = counts(*table, rows.size(), 12'000);
        if (all == 0) {
            EXPECT_EQ(counted, Weights(rows.size()));
        } else {
            EXPECT_LT(balance::test::deviation(counted, expected), 4);
        }
    }
}

TEST_P(BalancedChoice, AllocatesNothingOnceItsTableIsThere) {
    auto const table = test::table_of(100);
    std::string_view const excluded[] = {table->find(id_of(7))->instance->instance_id};
    ChooseOptions options;
    options.key = "key";
    options.exclude = excluded;
    EXPECT_NE(chooser.choose(*table), nullptr);
    test::fail_allocation_after(0);
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_NE(chooser.choose(*table), nullptr);
        EXPECT_NE(chooser.choose(*table, options), nullptr);
    }
    test::stop_failing();
}

TEST_P(BalancedChoice, FindsThatMemoryRanOutAndTriesAgain) {
    auto const table = test::table_of(10);
    for (int spared = 0; spared < 4; ++spared) {
        test::fail_allocation_after(spared);
        EXPECT_THROW((void)chooser.choose(*table), std::bad_alloc);
        test::stop_failing();
    }
    EXPECT_NE(chooser.choose(*table), nullptr);
}

TEST_P(BalancedChoice, PreparesATableAsAReaderWould) {
    auto const before = test::table_of(50);
    EXPECT_NE(chooser.choose(*before), nullptr);
    auto const table = before->erase(id_of(3))->put(test::record(99));
    auto const other = before->erase(id_of(3))->put(test::record(99));
    table->prepare_candidates(chooser.plan(), *before);
    for (int i = 0; i < 500; ++i) {
        auto const key = std::to_string(i);
        ChooseOptions options;
        options.key = key;
        auto const* const chosen = chooser.choose(*table, options);
        ASSERT_NE(chosen, nullptr);
        if (!std::holds_alternative<ConsistentHash>(GetParam())) continue;
        EXPECT_EQ(chosen->instance_id, chooser.choose(*other, options)->instance_id);
    }
    test::fail_allocation_after(0);
    EXPECT_NE(chooser.choose(*table), nullptr) << "nothing was left to be made";
    test::stop_failing();
}

TEST(Candidates, OfAllVersionsOfAnInstanceShareWhatIsKnownOfCalls) {
    Chooser chooser{{}};
    auto const table = InstanceTable::empty_table()->put(test::record(1, 3));
    auto* const calls = chooser.candidate(*table)->stats;
    auto const vitals = table->find(id_of(1))->vitals;
    auto const changed = table->put(make_record(test::instance(1, 5), vitals));
    EXPECT_EQ(chooser.candidate(*changed)->stats, calls);
    Chooser other{{.balancer = RoundRobin{}}};
    EXPECT_EQ(other.candidate(*changed)->stats, calls);
    EXPECT_NE(chooser.candidate(*InstanceTable::empty_table()->put(test::record(1)))->stats, calls);
}

TEST(Candidates, KnowSinceWhenAnInstanceIsThere) {
    auto const record = test::record(1);
    record->vitals->appeared_at.set(Moment::Time{1h});
    auto const table = InstanceTable::empty_table()->put(record);
    EXPECT_EQ(Chooser{{}}.candidate(*table)->stats->appeared_at.get(), Moment::Time{1h});
}

/// A writer, and threads that choose by all policies, begin calls and end them. Worth most under
/// the sanitizers.
TEST(BalancedChoiceStress, ChoosesWhileEverythingChanges) {
    SnapshotCell cell{"orders"};
    auto table = test::table_of(20);
    cell.publish(table);
    balance::Plans plans;
    std::vector<Policy> policies;
    for (auto const& balancer : rollcall::test::all_balancers()) {
        auto& policy = policies.emplace_back();
        policy.balancer = balancer;
        policy.slow_start = 20ms;
        policy.ejection = {.consecutive_failures = 2, .base_time = 1ms, .longest_time = 5ms};
    }
    std::vector<balance::Turns> turns(policies.size());
    std::atomic<int> ready = 0;
    std::atomic<int> wrong = 0;
    std::atomic<bool> stop = false;
    auto const choose = [&] {
        balance::Random random{static_cast<std::uint64_t>(++ready)};
        for (int i = 0; !stop || i < 2'000; ++i) {
            auto const which = static_cast<std::size_t>(i) % policies.size();
            auto const plan = plans.get(policies[which]);
            plan->note_use();
            auto const snapshot = cell.snapshot();
            auto const& candidates = SnapshotAccess::table(snapshot)->candidates(plan);
            auto const key = std::to_string(i % 100);
            ChooseOptions options;
            if (i % 2 == 0) options.key = key;
            Moment moment;
            auto const* const one = candidates.choose(options, random, moment, &turns[which]);
            if (one == nullptr || one->instance->service_name != "orders") {
                ++wrong;
                continue;
            }
            one->stats->begin();
            auto const outcome = random() % 3 == 0 ? CallOutcome::failed : CallOutcome::succeeded;
            candidates.end_call(*one->stats, outcome, 1ms, moment);
        }
    };
    std::thread first{choose};
    std::thread second{choose};
    while (ready < 2) std::this_thread::yield();
    balance::Random random{7};
    for (int version = 0; version < 300; ++version) {
        auto const number = random() % 30;
        auto const before = table;
        auto made = test::record(number, static_cast<int>(1 + random() % 5));
        made->vitals->appeared_at.set(Moment::Clock::now());
        table = version % 3 == 0 ? table->erase(id_of(number)) : table->put(std::move(made));
        for (auto const& plan : plans.in_use()) table->prepare_candidates(plan, *before);
        cell.publish(table);
    }
    stop = true;
    first.join();
    second.join();
    EXPECT_EQ(wrong, 0);
    for (auto const* const instance : test::all(*table)) {
        EXPECT_EQ(table->find(instance->instance_id)->vitals->calls().outstanding, 0);
    }
}

}  // namespace
}  // namespace rollcall::live

#include "cosky/own_instances.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace rollcall::cosky {
namespace {

NamespacedInstanceId const id{"n", "s@http#h#80"};

OwnInstances::Instance described(std::string version, bool ephemeral = true) {
    ServiceInstance result;
    result.service_name = "s";
    result.ephemeral = ephemeral;
    result.metadata = {{"v", std::move(version)}};
    return std::make_shared<ServiceInstance const>(std::move(result));
}

/// What is stored of the one instance.
using Stored = std::optional<ServiceInstance>;

/// One id, what is kept and stored of it, and who is in its lane.
struct World {
    OwnInstances own;
    Stored stored;
    std::deque<int> lane;
    bool expected = true;  ///< It was registered, and not deregistered or lost since.
    /// A deregistration that failed was called, and nobody has begun to register since.
    bool unwanted = false;
    int removed_last = -1;  ///< The deregistration after which nobody registered.
};

/// An operation, cut where others can come in between: by the thread that calls it, in the lane,
/// and by Redis.
class Actor {
public:
    Actor(std::string kind, int number) : kind_(std::move(kind)), number_(number) {}

    std::string const& kind() const { return kind_; }
    bool is_over() const { return over_; }
    bool may_go_on(World const& world) const {
        return !over_ && (!waits_ || world.lane.front() == number_);
    }
    bool was_called_before_end_of(Actor const& other) const { return called_ < other.ended_; }

    void go_on(World& world, int now) {
        if (kind_ == "lose") return lose(world);
        if (kind_ == "register" || kind_ == "register persistent") store(world);
        if (kind_ == "deregister") remove(world, now);
        if (kind_ == "deregister in vain") remove_in_vain(world);
        if (kind_ == "renew") renew(world, now);
        if (kind_ == "describe") describe(world);
        if (kind_ == "round") round(world);
        if (over_) ended_ = now;
        ++step_;
    }

private:
    void join(World& world) {
        world.lane.push_back(number_);
        waits_ = true;
    }
    void leave(World& world) {
        if (waits_) world.lane.pop_front();
        waits_ = false;
        over_ = true;
        operation_.reset();
    }
    void lose(World& world) {
        world.stored.reset();
        world.expected = false;
        over_ = true;
    }
    void keep(World& world) {
        world.own.keep(*operation_, instance_, {});
        leave(world);
    }
    void execute(World& world, bool by_user) {
        world.stored = *instance_;
        if (!by_user) return;
        world.removed_last = -1;
        world.expected = true;
    }

    void store(World& world) {
        switch (step_) {
            case 0:
                return join(world);
            case 1:
                instance_ = described(std::to_string(number_), kind_ == "register");
                operation_.emplace(world.own.registration(id));
                world.unwanted = false;
                return;
            case 2:
                return execute(world, true);
            default:
                return keep(world);
        }
    }

    void remove(World& world, int now) {
        switch (step_) {
            case 0:
                called_ = now;
                operation_.emplace(world.own.removal(id));
                return;
            case 1:
                return join(world);
            case 2:
                return world.own.erase(id);
            case 3:
                world.stored.reset();
                world.removed_last = number_;
                world.expected = false;
                return;
            default:
                return leave(world);
        }
    }

    /// It does not get as far as Redis.
    void remove_in_vain(World& world) {
        if (step_ == 0) {
            operation_.emplace(world.own.removal(id));
            world.unwanted = true;
        } else {
            leave(world);
        }
    }

    void renew(World& world, int now) {
        switch (step_) {
            case 0:
                called_ = now;
                operation_.emplace(world.own.renewal(id));
                return;
            case 1:
                return join(world);
            case 2:
                if (world.stored && world.stored->ephemeral) leave(world);
                return;
            case 3: {
                if (operation_->is_withdrawn()) return leave(world);
                auto const entry = world.own.find(id);
                instance_ = entry ? entry->instance : described("given");
                return;
            }
            case 4:
                return execute(world, false);
            default:
                return keep(world);
        }
    }

    void describe(World& world) {
        switch (step_) {
            case 0:
                return join(world);
            case 1:
                is_there_ = world.stored.has_value();
                if (is_there_) world.stored->metadata = {{"v", std::to_string(number_)}};
                return;
            default:
                if (is_there_) {
                    world.own.describe(id, {{"v", std::to_string(number_)}}, false, true);
                }
                return leave(world);
        }
    }

    void round(World& world) {
        switch (step_) {
            case 0:
                entry_ = world.own.find(id);
                over_ = !entry_;
                return;
            case 1:
                over_ = world.stored && world.stored->ephemeral;
                return;
            case 2:
                return join(world);
            case 3: {
                auto again = world.own.registration_again(*entry_);
                auto const current = again ? world.own.find(id) : std::nullopt;
                if (!current) return leave(world);
                operation_.emplace(*std::move(again));
                instance_ = current->instance;
                return;
            }
            case 4:
                return execute(world, false);
            default:
                return keep(world);
        }
    }

    std::string kind_;
    int number_;
    int step_ = 0;
    int called_ = -1;
    int ended_ = -1;
    bool waits_ = false;
    bool over_ = false;
    bool is_there_ = false;
    OwnInstances::Instance instance_;
    std::optional<OwnInstances::Entry> entry_;
    std::optional<OwnInstances::Operation> operation_;
};

/// Runs `scenario` once for each sequence of choices that it can make. It is given what chooses one
/// of so many.
int for_each_schedule(std::function<void(std::function<int(int)>)> const& scenario) {
    std::vector<std::pair<int, int>> choices;  // Which, of how many.
    for (int runs = 1;; ++runs) {
        std::size_t next = 0;
        scenario([&](int count) {
            if (next == choices.size()) choices.emplace_back(0, count);
            return choices[next++].first;
        });
        while (!choices.empty() && choices.back().first + 1 == choices.back().second) {
            choices.pop_back();
        }
        if (choices.empty()) return runs;
        ++choices.back().first;
    }
}

/// Empty when all is as it should be.
std::string fault_of(World const& world, std::vector<Actor> const& actors) {
    auto const kept = world.own.find(id);
    auto const any_is = [&actors](std::string_view kind) {
        return std::any_of(actors.begin(), actors.end(),
                           [kind](Actor const& actor) { return actor.kind() == kind; });
    };
    bool const lost = any_is("lose");
    bool const listed = world.stored && world.stored->ephemeral;
    if (kept && world.unwanted && !any_is("renew")) return "kept in spite of a deregistration";
    if (listed && !kept && !any_is("deregister in vain"))
        return "stored, but nobody keeps it alive";
    if (kept && !listed && !lost) return "kept, but not stored";
    if (kept && listed && *kept->instance != *world.stored) return "described in two ways";
    if (world.expected && !world.stored) return "vanished";
    if (world.removed_last < 0) return "";
    auto const& removal = actors[static_cast<std::size_t>(world.removed_last)];
    for (auto const& actor : actors) {
        if (actor.kind() == "renew" && !actor.was_called_before_end_of(removal)) return "";
    }
    return kept || world.stored ? "came back" : "";
}

void play(std::vector<std::string> const& kinds, std::function<int(int)> const& choose) {
    World world;
    world.stored = *described("first");
    {
        auto const first = world.own.registration(id);
        world.own.keep(first, described("first"), {});
    }
    std::vector<Actor> actors;
    for (auto const& kind : kinds) actors.emplace_back(kind, static_cast<int>(actors.size()));
    std::string trace;
    for (int now = 0;; ++now) {
        std::vector<Actor*> ready;
        for (auto& actor : actors) {
            if (actor.may_go_on(world)) ready.push_back(&actor);
        }
        if (ready.empty()) break;
        auto& actor = *ready[static_cast<std::size_t>(choose(static_cast<int>(ready.size())))];
        trace += std::to_string(&actor - actors.data()) + ":" + actor.kind() + " ";
        actor.go_on(world, now);
    }
    ASSERT_EQ(fault_of(world, actors), "") << trace;
}

std::vector<std::string> const all_kinds{
    "register", "register persistent", "deregister", "renew", "describe", "round",
    "lose",     "deregister in vain"};

void play_all(std::vector<std::string> const& kinds, std::vector<std::string> chosen,
              std::size_t from, std::size_t count, int& runs) {
    if (chosen.size() == count) {
        runs += for_each_schedule([&](auto const& choose) { play(chosen, choose); });
        return;
    }
    for (std::size_t i = from; i < kinds.size(); ++i) {
        auto more = chosen;
        more.push_back(kinds[i]);
        play_all(kinds, more, i, count, runs);
    }
}

/// Every order in which three operations on one instance can run: what is kept alive is what is
/// stored, nothing that was registered vanishes, and nothing that was deregistered comes back by a
/// renewal that was on its way (defects 3, 4, 16).
TEST(OwnInstances, Defect4_AndDefect16_HoldInEveryOrderOfThreeOperations) {
    int runs = 0;
    play_all(all_kinds, {}, 0, 3, runs);
    EXPECT_GT(runs, 40'000);
}

class OwnInstancesTest : public testing::Test {
protected:
    void keep(std::string port, std::string version) {
        NamespacedInstanceId const one{"n", "s@http#h#" + port};
        auto const operation = own.registration(one);
        EXPECT_TRUE(own.keep(operation, described(std::move(version)), {}));
    }

    OwnInstances own;
};

TEST_F(OwnInstancesTest, AWriteWithoutAnswerCountsAsDoneUntilItIsRead) {
    keep("80", "1");
    own.describe(id, {{"v", "2"}}, false, false);
    auto const unsure = own.find(id);
    ASSERT_TRUE(unsure && unsure->unsure);
    EXPECT_EQ(unsure->instance->metadata.at("v"), "2");
    own.settle(*unsure, *described("3"));
    auto const sure = own.find(id);
    ASSERT_TRUE(sure && !sure->unsure);
    EXPECT_EQ(sure->instance->metadata.at("v"), "3");
}

TEST_F(OwnInstancesTest, ARegistrationWithoutAnswerIsDoubtOnlyOfWhatIsKept) {
    {
        auto const operation = own.registration(id);
        own.doubt(operation, described("1"));
    }
    EXPECT_FALSE(own.find(id));
    keep("80", "1");
    {
        auto const operation = own.registration(id);
        own.doubt(operation, described("2"));
    }
    auto entry = own.find(id);
    ASSERT_TRUE(entry && entry->unsure && !entry->perhaps_persistent);
    EXPECT_EQ(entry->instance->metadata.at("v"), "2");
    {
        auto const operation = own.registration(id);
        own.doubt(operation, described("3", false));
    }
    entry = own.find(id);
    ASSERT_TRUE(entry && entry->unsure && entry->perhaps_persistent);
    EXPECT_EQ(entry->instance->metadata.at("v"), "2");
    keep("80", "4");
    entry = own.find(id);
    EXPECT_TRUE(entry && !entry->unsure && !entry->perhaps_persistent);
}

TEST_F(OwnInstancesTest, WhatWasReadBeforeANewerRegistrationIsIgnored) {
    keep("80", "1");
    auto const older = own.find(id);
    keep("80", "2");
    own.settle(*older, *described("1"));
    EXPECT_EQ(own.find(id)->instance->metadata.at("v"), "2");
    own.erase(*older);
    EXPECT_TRUE(own.find(id));
}

TEST_F(OwnInstancesTest, KnowsTheLongerOfTheLastTwoPausesOfASingleRenewal) {
    using namespace std::chrono_literals;
    OwnInstances::Time const start{};
    EXPECT_EQ(own.pause(id, start + 5s), 0s) << "not kept";
    keep("80", "1");
    EXPECT_EQ(own.pause(id, start + 7s), 7s) << "since the registration";
    EXPECT_EQ(own.pause(id, start + 10s), 7s);
    EXPECT_EQ(own.pause(id, start + 14s), 4s);
    EXPECT_EQ(own.pause(id, start + 39s), 25s);
    keep("80", "2");
    EXPECT_EQ(own.pause(id, start + 1s), 1s) << "readers heard of the registration";
}

TEST_F(OwnInstancesTest, ListsThemFromOneOn) {
    for (auto const* port : {"81", "82", "83"}) keep(port, "1");
    auto const ports = [this](NamespacedInstanceId const& first) {
        std::string result;
        for (auto const& entry : own.all(first)) result += entry.id.instance_id.back();
        return result;
    };
    EXPECT_EQ(ports({}), "123");
    EXPECT_EQ(ports({"n", "s@http#h#82"}), "231");
    EXPECT_EQ(ports({"n", "s@http#h#821"}), "312");
    EXPECT_EQ(ports({"o", ""}), "123");
}

}  // namespace
}  // namespace rollcall::cosky

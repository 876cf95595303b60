#pragma once

#include <filesystem>
#include <gmock/gmock.h>
#include <optional>
#include <thread>

#include "integration/announce/fixture.hpp"

#include "rollcall/registry.hpp"

/// Draining, in both layouts. Each layout's test program instantiates it.
namespace rollcall::test {

class DrainTest : public AnnouncerTest {
protected:
    /// Whether callers are kept from it.
    bool is_drained(ServiceInstance const& instance) {
        return GetParam().disables ? field(instance, "enabled") == "false" : !stored(instance);
    }
    bool drained_soon(ServiceInstance const& instance) {
        return eventually([&] { return is_drained(instance); });
    }
    /// As the program does; zero: one that is over by now.
    void drain(Owner& operators, ServiceInstance const& instance, std::chrono::milliseconds time) {
        auto const id = id_of(instance);
        auto& core = *operators.core;
        announce::DrainMarks marks{core, operators.port->live()};
        core.run([&] { return marks.set(id, 1min, core.deadline()); }).value();
        if (GetParam().disables) {
            core.run([&] { return operators.port->set_enabled(id, false, core.deadline()); })
                .value();
        } else {
            remove(operators, instance);
        }
        core.run([&] { return marks.set(id, time, core.deadline()); }).value();
    }
    /// A round, and soon.
    void call_for_round() { admin().must({"DEL", GetParam().epoch_key}); }
    bool back_soon(ServiceInstance const& instance) {
        return eventually([&] { return stored(instance) && !is_drained(instance); });
    }
};

TEST_P(DrainTest, CallersHaveTimeToTurnAway) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    auto const was = me.instance();
    std::thread drain{[&] { me.drain(600ms); }};
    auto const took = time_of([&] {
        EXPECT_TRUE(drained_soon(was));
        EXPECT_EQ(stored(was), GetParam().disables);
        drain.join();
    });
    EXPECT_GE(took, 500ms);
    EXPECT_FALSE(stored(me));
    EXPECT_TRUE(events->has("released"));
    EXPECT_EQ(events->count("drained"), 0u) << "no operator asked for it";
}

TEST_P(DrainTest, TheEndOfTheClientCutsItShort) {
    std::optional<Client> client{server.url()};
    Registry const registry{*client, GetParam().layout(lease)};
    auto me = registry.announce(instance());
    auto const was = me.instance();
    ASSERT_TRUE(eventually([&] { return me.registered(); }));
    std::error_code error;
    std::thread drain{[&] { me.drain(1h, error); }};
    EXPECT_TRUE(drained_soon(was));
    EXPECT_LE(time_of([&] {
                  client.reset();
                  drain.join();
              }),
              1s + tolerated_overshoot);
    EXPECT_FALSE(error);
    EXPECT_FALSE(stored(was));
    auto other = registry.announce(instance(8081));
    ASSERT_TRUE(eventually([&] { return other.registered(); }));
    EXPECT_GE(time_of([&] { other.drain(300ms); }), 300ms) << "what begins later has its time";
}

TEST_P(DrainTest, EndsAlsoWithRedisAway) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    server.kill();
    std::error_code error;
    auto const took = time_of([&] { me.drain(10ms, error); });
    EXPECT_TRUE(error);
    EXPECT_LE(took, 2 * by->core->request_timeout() + 500ms);
}

TEST_P(DrainTest, AnOperatorsMarkIsObeyedUntilItEnds) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const other = by->announcer->announce(instance(8081), {});
    auto const operators = owner(seldom);
    for (std::size_t i = 1; i <= 2; ++i) {
        mark(*operators, me.instance(), true);
        EXPECT_TRUE(drained_soon(me.instance()));
        EXPECT_TRUE(events->has("drained", i));
        for (int round = 0; round < 3; ++round) EXPECT_TRUE(renewed(other.instance()));
        EXPECT_TRUE(is_drained(me.instance()));
        EXPECT_FALSE(is_drained(other.instance()));
        mark(*operators, me.instance(), false);
        EXPECT_TRUE(back_soon(me.instance()));
        EXPECT_TRUE(events->has("restored", i));
    }
    EXPECT_EQ(events->count("lost") + events->count("removed_by_other"), 0u);
}

TEST_P(DrainTest, AMarkEndsByItself) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const operators = owner(seldom);
    mark(*operators, me.instance(), true);
    EXPECT_TRUE(drained_soon(me.instance()));
    auto const id = id_of(me.instance());
    announce::DrainMarks const marks{*operators->core, operators->port->live()};
    EXPECT_GT(admin().must({"PTTL", marks.key_of(id)}).integer, marks.afterlife().count());
    EXPECT_GE(marks.afterlife(), lease);
    admin().must({"PEXPIRE", marks.key_of(id), "50"});
    EXPECT_TRUE(back_soon(me.instance()));
}

TEST_P(DrainTest, OneThatEndsBetweenTwoRoundsIsChangedBack) {
    auto const by = owner(seldom);
    auto const me = announced(*by, instance(), true);
    auto const operators = owner(seldom);
    for (std::size_t i = 1; i <= 2; ++i) {
        drain(*operators, me.instance(), 0ms);
        EXPECT_TRUE(is_drained(me.instance()));
        call_for_round();
        EXPECT_TRUE(back_soon(me.instance()));
        EXPECT_TRUE(events->has("restored", i));
        EXPECT_TRUE(eventually([&] { return me.registered(); }));
    }
    EXPECT_EQ(events->count("drained"), 2u);
    EXPECT_EQ(events->count("lost") + events->count("removed_by_other"), 0u);
}

TEST_P(DrainTest, OneThatEndsBetweenTwoRoundsLeavesWhatTheOwnerDisabled) {
    if (!GetParam().disables) return;
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    me.set_enabled(false);
    ASSERT_TRUE(drained_soon(me.instance()));
    auto const operators = owner(seldom);
    drain(*operators, me.instance(), 0ms);
    call_for_round();
    EXPECT_TRUE(events->has("restored"));
    EXPECT_TRUE(is_drained(me.instance()));
}

TEST_P(DrainTest, AnUpdateThatFindsNothingLooksForAMark) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance(), true);
    auto const operators = owner(seldom);
    drain(*operators, me.instance(), 0ms);
    me.set_weight(7);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "7"; }));
    call_for_round();
    EXPECT_TRUE(back_soon(me.instance()));
    EXPECT_EQ(events->count("removed_by_other"), 0u);
}

TEST_P(DrainTest, OneOfAPersistentInstanceIsChangedBackByTheNextConnection) {
    auto const by = owner(seldom);
    auto persistent = instance();
    persistent.ephemeral = false;
    auto const me = announced(*by, persistent, true);
    auto const operators = owner(seldom);
    drain(*operators, me.instance(), 0ms);
    admin().must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_TRUE(back_soon(me.instance()));
    EXPECT_TRUE(events->has("restored"));
    EXPECT_EQ(events->count("removed_by_other"), 0u);
}

TEST_P(DrainTest, OneBehindAnotherIsObeyedWithoutABreak) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const other = by->announcer->announce(instance(8081), {});
    auto const operators = owner(seldom);
    mark(*operators, me.instance(), true);
    ASSERT_TRUE(drained_soon(me.instance()));
    mark(*operators, me.instance(), true);
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(renewed(other.instance()));
    EXPECT_TRUE(is_drained(me.instance()));
    EXPECT_EQ(events->count("restored"), 0u);
    EXPECT_EQ(events->count("drained"), 1u);
}

TEST_P(DrainTest, OneThatIsOverIsNothingToTheNextOwner) {
    auto const operators = owner(seldom);
    auto const by = owner(seldom);
    auto first = by->announcer->announce(instance(), {});
    ASSERT_TRUE(eventually([&] { return first.registered(); }));
    drain(*operators, first.instance(), 0ms);
    first.release();
    auto const next = owner(50ms);
    auto const me = announced(*next, instance());
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_TRUE(back_soon(me.instance()));
    EXPECT_EQ(events->count("drained") + events->count("restored"), 0u);
}

TEST_P(DrainTest, WhatIsMarkedBeforeIsNeverShown) {
    auto const by = owner(50ms);
    auto const operators = owner(seldom);
    auto const validated = operators->port->validated(instance());
    mark(*operators, validated, true);
    Listener listener{server, "*svc*"};
    auto const me = announce(*by, instance());
    EXPECT_TRUE(events->has("drained"));
    EXPECT_TRUE(drained_soon(me.instance()));
    EXPECT_TRUE(listener.drain().empty() || GetParam().disables);
    mark(*operators, validated, false);
    EXPECT_TRUE(back_soon(me.instance()));
    EXPECT_EQ(events->list().front(), "drained");
}

TEST_P(DrainTest, ALossOfTheDataEndsIt) {
    auto const by = owner(seldom);
    auto const me = announced(*by, instance());
    auto const operators = owner(seldom);
    mark(*operators, me.instance(), true);
    call_for_round();
    EXPECT_TRUE(drained_soon(me.instance()));
    server.kill();
    server.start();
    EXPECT_TRUE(back_soon(me.instance()));
    EXPECT_TRUE(events->has("restored"));
    EXPECT_EQ(events->count("removed_by_other"), 0u);
}

TEST_P(DrainTest, WhatIsReleasedMeanwhileStaysAway) {
    auto const by = owner(50ms);
    auto const other = by->announcer->announce(instance(8081), {});
    auto me = announced(*by, instance());
    auto const operators = owner(seldom);
    mark(*operators, me.instance(), true);
    EXPECT_TRUE(events->has("drained"));
    me.release();
    EXPECT_FALSE(stored(me));
    mark(*operators, me.instance(), false);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(other.instance()));
    EXPECT_FALSE(stored(me));
}

}  // namespace rollcall::test

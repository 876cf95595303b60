#include "unit/registry/announce/announcer_machine_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class DrainedTest : public AnnouncerMachineTest {
protected:
    using State = Drain::State;

    std::vector<std::string> mark(State state, std::uint64_t number = 1) {
        return told(machine.mark(1, Drain{state, number}, now));
    }
    std::vector<std::string> mark(bool drained) {
        return mark(drained ? State::wanted : State::none);
    }
};

TEST_F(DrainedTest, IsDisabledAndGetsBackWhatIsWanted) {
    announced();
    EXPECT_THAT(mark(false), IsEmpty());
    EXPECT_THAT(mark(true), ElementsAre("1 drained"));
    EXPECT_THAT(mark(true), IsEmpty());
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_FALSE(machine.to_store(1)->enabled);
    EXPECT_TRUE(machine.find(1)->enabled);
    answer(Kind::update, Machine::Result::done);
    EXPECT_TRUE(machine.registered(1));
    EXPECT_THAT(mark(false), ElementsAre("1 restored"));
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_TRUE(machine.to_store(1)->enabled);
}

TEST_F(DrainedTest, WhatTheUserDisabledStaysSo) {
    announced();
    mark(true);
    calls();
    answer(Kind::update, Machine::Result::done);
    auto disabled = instance();
    disabled.enabled = false;
    machine.change(1, disabled);
    mark(false);
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_FALSE(machine.to_store(1)->enabled);
}

TEST_F(DrainedTest, WhatIsLostMeanwhileComesBackDisabled) {
    announced();
    mark(true);
    calls();
    answer(Kind::update, Machine::Result::done);
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_FALSE(machine.to_store(1)->enabled);
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_THAT(mark(false), ElementsAre("1 restored")) << "the mark went with the data";
    EXPECT_THAT(calls(), ElementsAre("update 1"));
}

TEST_F(DrainedTest, IsReleasedAsAnyOther) {
    announced();
    mark(true);
    calls();
    machine.release(1);
    EXPECT_THAT(mark(false), IsEmpty());
    answer(Kind::update, Machine::Result::done);
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    EXPECT_THAT(answer(Kind::deregister, Machine::Result::done), ElementsAre("1 released"));
}

TEST_F(DrainedTest, ItsEndIsToldOnce) {
    announced();
    mark(State::wanted);
    calls();
    answer(Kind::update, Machine::Result::done);
    EXPECT_THAT(mark(State::over), ElementsAre("1 restored"));
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_TRUE(machine.to_store(1)->enabled);
    answer(Kind::update, Machine::Result::done);
    EXPECT_THAT(mark(State::over), IsEmpty());
    EXPECT_THAT(mark(State::none), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(DrainedTest, OneThatEndedUnseenIsChangedBack) {
    announced();
    for (std::uint64_t number = 1; number <= 2; ++number) {
        EXPECT_THAT(mark(State::over, number), ElementsAre("1 drained", "1 restored"));
        EXPECT_THAT(calls(), ElementsAre("update 1"));
        EXPECT_TRUE(machine.to_store(1)->enabled);
        answer(Kind::update, Machine::Result::done);
        EXPECT_THAT(mark(State::over, number), IsEmpty());
    }
}

TEST_F(DrainedTest, OneBehindAnotherIsTheSame) {
    announced();
    mark(State::wanted, 1);
    calls();
    answer(Kind::update, Machine::Result::done);
    EXPECT_THAT(mark(State::wanted, 2), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_THAT(mark(State::over, 2), ElementsAre("1 restored"));
    EXPECT_THAT(mark(State::wanted, 3), ElementsAre("1 drained"));
    EXPECT_THAT(mark(State::over, 4), ElementsAre("1 restored"));
}

TEST_F(DrainedTest, WhatWasOverBeforeTheRegistrationIsPast) {
    machine.add(instance(), false);
    calls();
    machine.mark_as_past(1, 7);
    EXPECT_THAT(mark(State::over, 7), IsEmpty());
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_THAT(mark(State::over, 7), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_THAT(mark(State::over, 8), ElementsAre("1 drained", "1 restored"));
}

/// Where there is nothing to disable.
class DeregisteredWhileDrained : public DrainedTest {
protected:
    DeregisteredWhileDrained() {
        AnnouncerTimes leaving;
        leaving.deregisters_drained = true;
        machine = Machine{leaving, now};
        machine.generation(1, now);
    }
    void be_drained() {
        announced();
        EXPECT_THAT(mark(true), ElementsAre("1 drained"));
        EXPECT_THAT(calls(), ElementsAre("deregister 1"));
        EXPECT_EQ(machine.to_store(1), std::nullopt);
        EXPECT_THAT(answer(Kind::deregister, Machine::Result::done), IsEmpty());
        EXPECT_FALSE(machine.registered(1));
    }
};

TEST_F(DeregisteredWhileDrained, RoundsGoOnForTheMark) {
    be_drained();
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("beat")) << "of none";
    EXPECT_THAT(answer(std::vector<Beat>{}), IsEmpty());
    EXPECT_GE(machine.wake_at() - now, times.period * 9 / 10) << "nothing failed";
    EXPECT_THAT(mark(false), ElementsAre("1 restored"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
}

TEST_F(DeregisteredWhileDrained, ARoundOnItsWayFindsNoLoss) {
    announced();
    round();
    mark(true);
    calls();
    answer(Kind::deregister, Machine::Result::done);
    EXPECT_THAT(answer({Beat::gone}), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(DeregisteredWhileDrained, TheMarkMayEndWhileRedisIsAway) {
    announced();
    mark(true);
    calls();
    answer(Kind::deregister, Machine::Result::transient);  // It may have been carried out.
    machine.connected(now);
    EXPECT_THAT(mark(false), ElementsAre("1 restored"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
}

TEST_F(DeregisteredWhileDrained, ALossOfTheDataEndsTheMark) {
    be_drained();
    machine.generation(2, now);
    EXPECT_LE(machine.wake_at() - now, times.reassert_within);
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("beat"));
    EXPECT_THAT(mark(false), ElementsAre("1 restored"));
    answer(std::vector<Beat>{});
    EXPECT_THAT(calls(), ElementsAre("register 1"));
}

TEST_F(DeregisteredWhileDrained, IsReleasedWithoutACallOnceItIsGone) {
    be_drained();
    EXPECT_THAT(told(machine.release(1)), ElementsAre("1 released"));
    EXPECT_TRUE(machine.idle());
}

TEST_F(DeregisteredWhileDrained, IsReleasedByTheDeregistrationOnItsWay) {
    announced();
    mark(true);
    calls();
    EXPECT_THAT(told(machine.release(1)), IsEmpty());
    EXPECT_THAT(answer(Kind::deregister, Machine::Result::done), ElementsAre("1 released"));
}

TEST_F(DeregisteredWhileDrained, IsNotRegisteredWhenTheMarkWasThereBefore) {
    machine.add(instance(), false);
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_THAT(mark(true), ElementsAre("1 drained"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::withdrawn), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_THAT(told(machine.release(1)), ElementsAre("1 released"));
}

TEST_F(DeregisteredWhileDrained, OneThatEndedUnseenIsNoRemoval) {
    announced(true);
    round();
    EXPECT_THAT(mark(State::over), ElementsAre("1 drained", "1 restored"));
    EXPECT_THAT(answer({Beat::gone}), IsEmpty());
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
    round();
    EXPECT_THAT(mark(State::over), IsEmpty());
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 removed")) << "by somebody, later";
}

TEST_F(DeregisteredWhileDrained, AnUpdateThatFoundNothingIsNoRemoval) {
    announced(true);
    machine.change(1, instance(2));
    calls();
    mark(State::over);
    EXPECT_THAT(answer(Kind::update, Machine::Result::gone), IsEmpty());
    EXPECT_THAT(calls(), ElementsAre("register 1"));
}

TEST_F(DeregisteredWhileDrained, ARegistrationOnItsWayMayBeUndoneByOneThatEnded) {
    machine.add(instance(), true);
    calls();
    EXPECT_THAT(mark(State::over), ElementsAre("1 drained", "1 restored"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_THAT(calls(), IsEmpty());
}

}  // namespace
}  // namespace rollcall::test

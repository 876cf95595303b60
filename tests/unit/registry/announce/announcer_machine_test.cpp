#include <algorithm>
#include <ctime>

#include "unit/registry/announce/announcer_machine_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

TEST_F(AnnouncerMachineTest, RegistersAndRenewsInOneRound) {
    machine.generation(1, now);
    machine.add(instance(), false);
    machine.add(instance(), false);
    EXPECT_THAT(calls(), ElementsAre("register 1", "register 2"));
    EXPECT_THAT(calls(), IsEmpty()) << "not twice";
    EXPECT_FALSE(machine.registered(1));
    EXPECT_THAT(told(machine.answer_call(1, Machine::Result::done, now)),
                ElementsAre("1 registered"));
    EXPECT_TRUE(machine.registered(1));
    machine.answer_call(2, Machine::Result::done, now);
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("beat 1 2"));
    now += 1min;
    EXPECT_THAT(calls(), IsEmpty()) << "one round at a time";
    EXPECT_THAT(answer({Beat::alive, Beat::alive}), IsEmpty());
    EXPECT_THAT(calls(), ElementsAre("beat 1 2"));
}

TEST_F(AnnouncerMachineTest, RoundsComeNoLaterThanThePeriod) {
    announced();
    for (int i = 0; i < 100; ++i) {
        auto const before = now;
        round();
        EXPECT_LE(now - before, times.period);
        EXPECT_GE(now - before, times.period * 9 / 10) << "but not in step with others";
        answer({Beat::alive});
    }
}

TEST_F(AnnouncerMachineTest, AFailedRegistrationIsTriedAgainWithGrowingPauses) {
    machine.add(instance(), false);
    std::vector<long long> pauses;
    for (int i = 0; i < 7; ++i) {
        ASSERT_THAT(calls(), ElementsAre("register 1"));
        EXPECT_THAT(answer(Kind::register_instance, Machine::Result::transient), IsEmpty());
        EXPECT_THAT(calls(), IsEmpty());
        pauses.push_back((machine.wake_at() - now) / 1ms);
        now = machine.wake_at();
    }
    EXPECT_THAT(pauses, ElementsAre(200, 400, 800, 1'600, 3'200, 5'000, 5'000));
}

TEST_F(AnnouncerMachineTest, AConnectionCallsForEverythingAtOnce) {
    announced();
    machine.add(instance(), false);
    calls();
    for (int i = 0; i < 3; ++i) {
        answer(Kind::register_instance, Machine::Result::transient);
        now = machine.wake_at();
        calls();
    }
    answer(Kind::register_instance, Machine::Result::transient);
    machine.connected(now);
    EXPECT_THAT(calls(), testing::Contains("register 2"));
    EXPECT_LE(machine.wake_at() - now, times.reassert_within);
    round();
}

TEST_F(AnnouncerMachineTest, AnotherGenerationCallsForARound) {
    machine.generation(1, now);
    announced();
    machine.generation(1, now);
    EXPECT_GT(machine.wake_at() - now, times.reassert_within);
    machine.generation(2, now);
    EXPECT_LE(machine.wake_at() - now, times.reassert_within);
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
}

TEST_F(AnnouncerMachineTest, GoneWhileTheLeaseRunsIsSomebodysWork) {
    machine.generation(1, now);
    announced();
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 removed"));
    EXPECT_THAT(calls(), ElementsAre("register 1")) << "and taken back";

    answer(Kind::register_instance, Machine::Result::done);

    announced(true);
    round();
    EXPECT_THAT(answer({Beat::gone, Beat::gone}), ElementsAre("1 removed", "2 removed"));
    EXPECT_THAT(calls(), ElementsAre("register 1")) << "2 stays out";
    EXPECT_FALSE(machine.registered(2));
    EXPECT_THAT(told(machine.release(2)), ElementsAre("2 released"));
}

TEST_F(AnnouncerMachineTest, GoneIsLossWhenTheLeaseMayHaveEnded) {
    machine.generation(1, now);
    announced(true);
    round();
    now += times.lease;  // The call hung.
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
    EXPECT_THAT(calls(), testing::Contains("register 1"));
}

TEST_F(AnnouncerMachineTest, GoneIsLossWithoutAGeneration) {
    announced(true);
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
}

TEST_F(AnnouncerMachineTest, WhatIsNotListedIsRegisteredAgain) {
    machine.generation(1, now);
    announced(true);
    round();
    EXPECT_THAT(answer({Beat::unlisted}), ElementsAre("1 lost"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
}

TEST_F(AnnouncerMachineTest, AFailedRoundIsRepeatedSoon) {
    announced();
    round();
    EXPECT_THAT(answer({Beat::failed}), IsEmpty());
    EXPECT_TRUE(machine.registered(1));
    EXPECT_EQ(machine.wake_at() - now, times.first_retry);
    round();
    answer({Beat::failed});
    EXPECT_EQ(machine.wake_at() - now, 2 * times.first_retry);
}

TEST_F(AnnouncerMachineTest, AFailureOfOneIsNoneOfTheOthers) {
    announced();
    announced();
    round();
    EXPECT_THAT(answer({Beat::failed, Beat::alive}), IsEmpty());
    EXPECT_GE(machine.wake_at() - now, times.period * 9 / 10);
}

TEST_F(AnnouncerMachineTest, AHeartbeatThatIsRefusedIsToldOnceUntilItWorksAgain) {
    machine.generation(1, now);
    announced();
    announced();
    for (int i = 0; i < 2; ++i) {
        round();
        EXPECT_THAT(answer({Beat::alive, Beat::refused}), ElementsAre("2 refused"));
        EXPECT_TRUE(machine.registered(1));
        EXPECT_FALSE(machine.registered(2));
        round();
        EXPECT_THAT(answer({Beat::alive, Beat::refused}), IsEmpty());
        machine.change(2, instance(7 + i));
        calls();
        answer(Kind::update, Machine::Result::done);
        EXPECT_FALSE(machine.registered(2)) << "an update does not prolong the lease";
        round();
        EXPECT_THAT(answer({Beat::alive, Beat::alive}), ElementsAre("2 registered"));
        EXPECT_TRUE(machine.registered(2));
    }
    round();
    answer({Beat::alive, Beat::refused});
    round();
    EXPECT_THAT(answer({Beat::alive, Beat::gone}), ElementsAre("2 removed"));
    EXPECT_THAT(calls(), ElementsAre("register 2"));
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_TRUE(machine.registered(2));
}

TEST_F(AnnouncerMachineTest, WhatWasNotRenewedForALeaseIsLost) {
    machine.generation(1, now);
    announced();
    auto const registered_at = now;
    for (round(); now < registered_at + times.lease; round()) {
        EXPECT_THAT(answer({Beat::failed}), IsEmpty());
        EXPECT_TRUE(machine.registered(1));
    }
    EXPECT_THAT(answer({Beat::failed}), ElementsAre("1 lost"));
    EXPECT_FALSE(machine.registered(1));
    EXPECT_THAT(calls(), IsEmpty()) << "for all that anybody knows, it is still there";
    round();
    EXPECT_THAT(answer({Beat::refused}), IsEmpty());
    round();
    EXPECT_THAT(answer({Beat::alive}), ElementsAre("1 registered"));
    EXPECT_TRUE(machine.registered(1));
    now += times.lease;
    calls();
    EXPECT_THAT(answer({Beat::failed}), ElementsAre("1 lost"));
    round();
    EXPECT_THAT(answer({Beat::gone}), IsEmpty()) << "that was told";
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
}

TEST_F(AnnouncerMachineTest, WhatHasNoLeaseIsNotLostWithOne) {
    auto persistent = instance();
    persistent.ephemeral = false;
    machine.add(persistent, false);
    calls();
    answer(Kind::register_instance, Machine::Result::done);
    now += 2 * times.lease;
    calls();
    EXPECT_THAT(answer({Beat::failed}), IsEmpty());
    EXPECT_TRUE(machine.registered(1));
}

TEST_F(AnnouncerMachineTest, ARoundDoesNotUndoALaterRegistration) {
    machine.generation(1, now);
    announced();
    round();
    now += 1ms;
    machine.change(1, instance(7));
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_THAT(answer(Kind::update, Machine::Result::gone), ElementsAre("1 removed"));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_THAT(answer({Beat::gone}), IsEmpty()) << "it was made before";
    EXPECT_TRUE(machine.registered(1));
}

TEST_F(AnnouncerMachineTest, AnUpdateIsNotTakenForARegistration) {
    machine.generation(1, now);
    announced();
    machine.change(1, instance(7));
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 removed"));
    answer(Kind::update, Machine::Result::done);
    EXPECT_FALSE(machine.registered(1));
    EXPECT_THAT(calls(), ElementsAre("register 1"));
}

TEST_F(AnnouncerMachineTest, ChangesDuringACallAreWrittenAfterIt) {
    machine.add(instance(), false);
    calls();
    machine.change(1, instance(2));
    machine.change(1, instance(3));
    EXPECT_THAT(calls(), IsEmpty());
    answer(Kind::register_instance, Machine::Result::done);
    EXPECT_THAT(calls(), ElementsAre("update 1"));
    EXPECT_EQ(machine.find(1)->weight, 3);
    answer(Kind::update, Machine::Result::done);
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(AnnouncerMachineTest, AnUpdateThatFindsNothingIsSomebodysWorkToo) {
    machine.generation(1, now);
    announced(true);
    machine.change(1, instance(7));
    calls();
    EXPECT_THAT(answer(Kind::update, Machine::Result::gone), ElementsAre("1 removed"));
    EXPECT_THAT(calls(), IsEmpty()) << "it stays out";
}

TEST_F(AnnouncerMachineTest, InItsLastHalfSecondALeaseMayHaveEnded) {
    machine.generation(1, now);
    announced();
    now += times.lease - 400ms;
    ASSERT_THAT(calls(), ElementsAre("beat 1"));
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
}

TEST_F(AnnouncerMachineTest, AnUpdateDoesNotProlongTheLease) {
    machine.generation(1, now);
    auto const key = announced();
    now += times.lease - 1s;
    machine.change(key, instance(2));
    ASSERT_THAT(calls(), testing::Contains("update 1"));
    answer(Kind::update, Machine::Result::done);
    now += 2s;
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
}

TEST_F(AnnouncerMachineTest, ARoundDuringWhichTheDataChangedProvesNothing) {
    machine.generation(1, now);
    announced();
    renew_for(times.lease + 10s);
    round();
    machine.generation(2, now);  // Behind the heartbeats, before the rest of the round.
    answer({Beat::alive});
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
}

TEST_F(AnnouncerMachineTest, OtherDataMayHaveWhatItWasBeforeAChange) {
    machine.generation(1, now);
    auto const key = announced();
    machine.change(key, instance(2));
    calls();
    answer(Kind::update, Machine::Result::done);
    for (GenerationNumber const number : {2, 3}) {
        renew_for(1min);
        machine.generation(number, now);
        round();
        answer({Beat::alive});
        EXPECT_THAT(calls(), ElementsAre("update 1"));
        answer(Kind::update, Machine::Result::done);
    }
    round();
    answer({Beat::alive});
    EXPECT_THAT(calls(), IsEmpty()) << "once for each";
}

TEST_F(AnnouncerMachineTest, WhatWasNeverChangedIsOnlyRenewedInOtherData) {
    machine.generation(1, now);
    announced();
    machine.generation(2, now);
    round();
    answer({Beat::alive});
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(AnnouncerMachineTest, TheNextOfAnIdWaitsUntilTheLastIsGone) {
    announced();
    machine.release(1);
    machine.add(instance(2), false, 1);
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    answer(Kind::deregister, Machine::Result::transient);
    EXPECT_THAT(calls(), IsEmpty());
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    answer(Kind::deregister, Machine::Result::done);
    EXPECT_THAT(calls(), ElementsAre("register 2"));
}

TEST_F(AnnouncerMachineTest, ADeregistrationIsOverWithTheLease) {
    announced();
    machine.release(1);
    auto const released_at = now;
    for (int i = 0; i < 1'000 && !machine.idle(); ++i) {
        ASSERT_THAT(calls(), ElementsAre("deregister 1"));
        answer(Kind::deregister, Machine::Result::transient);
        if (!machine.idle()) now = machine.wake_at();
    }
    EXPECT_TRUE(machine.idle());
    EXPECT_GE(now - released_at, times.lease);
    EXPECT_LE(now - released_at, times.lease + times.last_retry);
}

TEST_F(AnnouncerMachineTest, NothingBringsBackWhatIsReleased) {
    machine.add(instance(), false);
    calls();
    EXPECT_THAT(told(machine.release(1)), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty()) << "the registration is on its way";
    answer(Kind::register_instance, Machine::Result::transient);  // It may have been carried out.
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    machine.change(1, instance(5));
    EXPECT_THAT(answer(Kind::deregister, Machine::Result::transient), IsEmpty());
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    EXPECT_THAT(answer(Kind::deregister, Machine::Result::done), ElementsAre("1 released"));
    EXPECT_TRUE(machine.idle());
    now += 1h;
    machine.connected(now);
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_EQ(machine.wake_at(), Machine::Time::max());
}

TEST_F(AnnouncerMachineTest, WhatIsReleasedDuringARoundIsNotRegisteredAgain) {
    machine.generation(1, now);
    announced();
    round();
    machine.release(1);
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    EXPECT_THAT(answer({Beat::gone}), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_THAT(answer(Kind::deregister, Machine::Result::done), ElementsAre("1 released"));
}

TEST_F(AnnouncerMachineTest, WhatNeverWasOnItsWayIsReleasedWithoutACall) {
    machine.add(instance(), false);
    EXPECT_THAT(told(machine.release(1)), ElementsAre("1 released"));
    EXPECT_THAT(calls(), IsEmpty());
}

/// Of the time of this thread, the best of some tries.
double nanoseconds_of_one_end(int size) {
    auto best = 1e18;
    for (int tries = 0; tries < 3; ++tries) {
        Machine::Time now{1'000'000s};
        Machine machine{AnnouncerTimes{}, now};
        for (int i = 0; i < size; ++i) machine.add(ServiceInstance{}, false);
        for (auto const& call : machine.next_calls(now)) {
            machine.answer_call(call.number, Machine::Result::transient, now);
        }
        auto const begun = std::clock();
        for (int i = 1; i <= size; ++i) {
            machine.release(static_cast<Key>(i));
            for (auto const& call : machine.next_calls(now)) {
                machine.answer_call(call.number, Machine::Result::transient, now);
            }
            EXPECT_GT(machine.wake_at(), now);
        }
        best =
            std::min(best, 1e9 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - begun) / size);
    }
    return best;
}

TEST(AnnouncerMachine, ManyEndsOneByOneCostTheSameEach) {
    auto const few = nanoseconds_of_one_end(500);
    auto const many = nanoseconds_of_one_end(16'000);
    EXPECT_LE(many, 8 * few) << "32 times as much, when each end looks at all of them";
}

TEST_F(AnnouncerMachineTest, WhoIsInAHurryDoesNotWaitForTheNextTry) {
    announced();
    machine.hurry(1);
    EXPECT_THAT(calls(), IsEmpty()) << "nothing is to be done";
    machine.release(1);
    calls();
    machine.hurry(1);
    EXPECT_THAT(calls(), IsEmpty()) << "it is on its way";
    answer(Kind::deregister, Machine::Result::refused);
    EXPECT_THAT(calls(), IsEmpty());
    machine.hurry(1);
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    answer(Kind::deregister, Machine::Result::done);
    machine.hurry(1);
    EXPECT_TRUE(machine.idle());
}

TEST_F(AnnouncerMachineTest, ARefusalIsToldOnce) {
    machine.add(instance(), false);
    calls();
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::refused),
                ElementsAre("1 refused"));
    EXPECT_EQ(machine.wake_at() - now, times.last_retry);
    now = machine.wake_at();
    calls();
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::refused), IsEmpty());
    now = machine.wake_at();
    calls();
    EXPECT_THAT(answer(Kind::register_instance, Machine::Result::done),
                ElementsAre("1 registered"));
}

}  // namespace
}  // namespace rollcall::test

#include "registry/announce/announcer_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace rollcall {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Machine = AnnouncerMachine;
using Kind = Machine::Call::Kind;
using Beat = Machine::Beat;
using Key = Machine::Key;

class AnnouncerMachineTest : public testing::Test {
protected:
    static ServiceInstance instance(int weight = 1) {
        ServiceInstance result;
        result.service_name = "orders";
        result.weight = weight;
        return result;
    }

    static std::vector<std::string> told(Machine::Notices const& notices) {
        static constexpr char const* names[] = {"registered", "lost",    "removed",  "refused",
                                                "conflict",   "drained", "restored", "released"};
        std::vector<std::string> result;
        for (auto const& notice : notices) {
            result.push_back(std::to_string(notice.key) + ' ' +
                             names[static_cast<int>(notice.event)]);
        }
        return result;
    }

    std::vector<std::string> calls() {
        static constexpr char const* names[] = {"beat", "register", "update", "deregister"};
        std::vector<std::string> result;
        for (auto const& call : machine.next_calls(now)) {
            std::string text = names[static_cast<int>(call.kind)];
            for (auto const key : call.keys) text += ' ' + std::to_string(key);
            result.push_back(text);
            last[call.kind] = call.number;
        }
        return result;
    }

    std::vector<std::string> answer(Kind kind, Machine::Result result) {
        return told(machine.answer_call(last.at(kind), result, now));
    }
    std::vector<std::string> answer(std::vector<Beat> const& beats) {
        return told(machine.answer_round(last.at(Kind::heartbeat), beats, now));
    }

    Key announced(bool stay_out = false) {
        auto const key = machine.add(instance(), stay_out);
        calls();
        answer(Kind::register_instance, Machine::Result::done);
        return key;
    }

    /// Goes to the next round and makes its call.
    void round() {
        now = machine.wake_at();
        ASSERT_THAT(calls(), testing::Contains(testing::StartsWith("beat")));
    }

    /// The only one that is announced.
    void renew_for(std::chrono::milliseconds time) {
        for (auto const end = now + time; now < end;) {
            round();
            answer({Beat::alive});
        }
    }

    AnnouncerTimes const times;
    Machine::Time now{1'000'000s};
    Machine machine{times, now};
    std::map<Kind, std::uint64_t> last;
};

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

class DrainedTest : public AnnouncerMachineTest {
protected:
    std::vector<std::string> mark(bool drained) { return told(machine.mark(1, drained, now)); }
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

}  // namespace
}  // namespace rollcall

// What is only renewed: somebody else registers it.

#include "unit/registry/announce/announcer_machine_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class AdoptedInstanceTest : public AnnouncerMachineTest {
protected:
    Key adopted() { return machine.adopt(instance(), now); }
};

TEST_F(AdoptedInstanceTest, IsRenewedAtOnceAndThenInTheRoundsOfAll) {
    machine.generation(1, now);
    announced();
    adopted();
    EXPECT_THAT(calls(), ElementsAre("beat 1 2"));
    EXPECT_FALSE(machine.registered(2));
    EXPECT_THAT(answer({Beat::alive, Beat::alive}), ElementsAre("2 registered"));
    EXPECT_TRUE(machine.registered(2));
    EXPECT_TRUE(machine.settled(2));
    auto const before = now;
    round();
    EXPECT_GE(now - before, times.period * 9 / 10);
    EXPECT_LE(now - before, times.period);
    EXPECT_THAT(answer({Beat::alive, Beat::alive}), IsEmpty()) << "once";
}

TEST_F(AdoptedInstanceTest, ManyThatComeOneByOneMakeNoRoundEach) {
    int rounds = 0;
    auto const begin = now;
    for (int i = 1; i <= 100; ++i) {
        adopted();
        for (auto const& call : machine.next_calls(now)) {
            ++rounds;
            machine.answer_round(call.number, std::vector<Beat>(call.keys.size(), Beat::alive),
                                 now);
        }
        now += 10ms;
    }
    EXPECT_LE(rounds, (now - begin) / times.reassert_within + 1);
    EXPECT_LE(machine.wake_at(), now + times.reassert_within) << "and none waits for the period";
}

TEST_F(AdoptedInstanceTest, IsNeverRegisteredWhateverHappens) {
    machine.generation(1, now);
    adopted();
    GenerationNumber generation = 1;
    for (auto const beat : {Beat::gone, Beat::alive, Beat::gone, Beat::unlisted, Beat::failed,
                            Beat::persistent, Beat::unlisted, Beat::gone, Beat::alive}) {
        for (int i = 0; i < 3; ++i) {
            now = machine.wake_at();
            ASSERT_THAT(calls(), ElementsAre("beat 1"));
            answer({beat});
            EXPECT_THAT(calls(), IsEmpty());
            EXPECT_FALSE(machine.to_store(1).has_value());
        }
        machine.connected(now);
        machine.generation(++generation, now);
        machine.change(1, instance(7));
    }
    EXPECT_EQ(machine.find(1)->weight, 1) << "what it is like is not known here";
}

TEST_F(AdoptedInstanceTest, IsAskedForWhileItIsGoneAndToldWhenItsOwnerIsBack) {
    machine.generation(1, now);
    adopted();
    calls();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost")) << "it never was there";
    EXPECT_FALSE(machine.registered(1));
    for (int i = 0; i < 3; ++i) {
        round();
        EXPECT_THAT(answer({Beat::gone}), IsEmpty());
    }
    round();
    EXPECT_THAT(answer({Beat::alive}), ElementsAre("1 registered"));
    EXPECT_TRUE(machine.registered(1));
}

TEST_F(AdoptedInstanceTest, GoneWhileItsLeaseRunsIsSomebodysWork) {
    machine.generation(1, now);
    adopted();
    calls();
    answer({Beat::alive});
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 removed"));
    for (auto const end = now + 2 * times.lease; now < end;) {
        round();
        EXPECT_THAT(answer({Beat::gone}), IsEmpty()) << "also when its lease would have ended";
    }
    round();
    answer({Beat::alive});
    machine.generation(2, now);
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 lost"));
}

TEST_F(AdoptedInstanceTest, InAServiceThatIsNotListedIsNotThere) {
    machine.generation(1, now);
    adopted();
    calls();
    answer({Beat::alive});
    round();
    EXPECT_THAT(answer({Beat::unlisted}), ElementsAre("1 lost"));
    EXPECT_FALSE(machine.registered(1));
    round();
    EXPECT_THAT(answer({Beat::alive}), ElementsAre("1 registered"));
}

TEST_F(AdoptedInstanceTest, WithoutALeaseIsToldAsSuch) {
    machine.generation(1, now);
    adopted();
    calls();
    EXPECT_THAT(answer({Beat::persistent}), ElementsAre("1 persistent"));
    EXPECT_TRUE(machine.registered(1));
    round();
    EXPECT_THAT(answer({Beat::persistent}), IsEmpty());
    round();
    EXPECT_THAT(answer({Beat::alive}), ElementsAre("1 registered"));
    round();
    EXPECT_THAT(answer({Beat::persistent}), ElementsAre("1 persistent"));
    round();
    EXPECT_THAT(answer({Beat::gone}), ElementsAre("1 removed"));
}

TEST_F(AdoptedInstanceTest, AFailureTellsNothing) {
    adopted();
    calls();
    EXPECT_THAT(answer({Beat::failed}), IsEmpty());
    EXPECT_LE(machine.wake_at() - now, times.first_retry);
    round();
    answer({Beat::alive});
    round();
    EXPECT_THAT(answer({Beat::failed}), IsEmpty());
    EXPECT_TRUE(machine.registered(1)) << "as far as anybody knows";
}

TEST_F(AdoptedInstanceTest, ARefusalAndASilenceOfALeaseAreTold) {
    machine.generation(1, now);
    adopted();
    calls();
    now += 2 * times.lease;
    EXPECT_THAT(answer({Beat::failed}), IsEmpty()) << "nobody ever found it";
    round();
    EXPECT_THAT(answer({Beat::refused}), ElementsAre("1 refused"));
    EXPECT_FALSE(machine.registered(1));
    round();
    EXPECT_THAT(answer({Beat::alive}), ElementsAre("1 registered"));
    auto const renewed_at = now;
    while (now < renewed_at + times.lease) {
        EXPECT_TRUE(machine.registered(1));
        round();
        if (now < renewed_at + times.lease) {
            EXPECT_THAT(answer({Beat::failed}), IsEmpty());
        }
    }
    EXPECT_THAT(answer({Beat::failed}), ElementsAre("1 lost"));
    EXPECT_FALSE(machine.registered(1));
    round();
    EXPECT_THAT(answer({Beat::gone}), IsEmpty()) << "as was told";
}

TEST_F(AdoptedInstanceTest, AConnectionOrAnotherGenerationCallsForARound) {
    machine.generation(1, now);
    adopted();
    calls();
    answer({Beat::alive});
    machine.connected(now);
    EXPECT_LE(machine.wake_at() - now, times.reassert_within);
    round();
    answer({Beat::alive});
    machine.generation(2, now);
    EXPECT_LE(machine.wake_at() - now, times.reassert_within);
}

TEST_F(AdoptedInstanceTest, ItsEndMakesNoCall) {
    machine.generation(1, now);
    adopted();
    calls();
    answer({Beat::alive});
    round();
    EXPECT_THAT(told(machine.release(1)), ElementsAre("1 released"));
    EXPECT_THAT(calls(), IsEmpty()) << "also while a round is on its way";
    EXPECT_THAT(answer({Beat::gone}), IsEmpty());
    EXPECT_TRUE(machine.idle());
    EXPECT_EQ(machine.wake_at(), Machine::Time::max());
}

TEST_F(AdoptedInstanceTest, AnOperatorsMarkChangesNothing) {
    machine.generation(1, now);
    adopted();
    calls();
    answer({Beat::alive});
    EXPECT_THAT(machine.announced(), IsEmpty()) << "it is not even asked for";
    EXPECT_THAT(told(machine.mark(1, {Drain::State::wanted, 1}, now)), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_TRUE(machine.registered(1));
    round();
    EXPECT_THAT(told(machine.mark(1, {Drain::State::over, 2}, now)), IsEmpty());
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(AdoptedInstanceTest, WaitsForTheEndOfWhatWasAnnouncedBefore) {
    announced();
    machine.release(1);
    machine.adopt(instance(), now, 1);
    EXPECT_THAT(calls(), ElementsAre("deregister 1"));
    answer(Kind::deregister, Machine::Result::done);
    EXPECT_THAT(calls(), IsEmpty());
    now = machine.wake_at();
    EXPECT_THAT(calls(), ElementsAre("beat 2"));
}

TEST_F(AdoptedInstanceTest, MakesWayForAnAnnouncement) {
    adopted();
    calls();
    answer({Beat::alive});
    machine.release(1);
    machine.add(instance(), false, 1);
    EXPECT_THAT(calls(), ElementsAre("register 2"));
}

}  // namespace
}  // namespace rollcall::test

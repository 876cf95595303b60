#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "run_machine_driver.hpp"

namespace rollcall::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Leaving.

TEST_F(RunMachineTest, DeregistersThenSettlesThenPassesTheSignalOn) {
    serve_registered();
    EXPECT_THAT(term(), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    EXPECT_EQ(left(), 1s);
    EXPECT_THAT(pass(999ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre(signal(SIGTERM)));
    EXPECT_EQ(left(), std::nullopt);
    EXPECT_THAT(pass(1h), IsEmpty()) << "no heartbeat brings it back";
    EXPECT_THAT(step(ChildEnded{7}), ElementsAre("finish 7"));
}

TEST_F(RunMachineTest, TheSecondSignalIsPassedOnAtOnceWithTheFirst) {
    serve_registered();
    term();
    answer(Call::deregister);
    pass(200ms);
    EXPECT_THAT(step(Signalled{SIGINT, false}), ElementsAre(signal(SIGTERM), signal(SIGINT)));
    EXPECT_THAT(term(), ElementsAre(signal(SIGTERM))) << "and further ones";
    EXPECT_THAT(pass(1s), IsEmpty());
    EXPECT_THAT(step(ChildEnded{130}), ElementsAre("finish 130"));
}

TEST_F(RunMachineTest, WaitsForTheCallUnderWayBeforeItDeregisters) {
    serve_registered();
    EXPECT_THAT(pass(10s), ElementsAre("heartbeat"));
    EXPECT_THAT(term(), IsEmpty());
    EXPECT_THAT(answer(Call::heartbeat), ElementsAre("deregister"));
}

TEST_F(RunMachineTest, ARegistrationUnderWayIsTakenBack) {
    serve();
    EXPECT_THAT(term(), IsEmpty());
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    EXPECT_THAT(pass(1s), ElementsAre(signal(SIGTERM)));
}

TEST_F(RunMachineTest, AHeartbeatThatFindsItGoneDoesNotBringItBackWhileLeaving) {
    serve_registered();
    pass(10s);
    term();
    EXPECT_THAT(answer(Call::heartbeat, Outcome::gone), ElementsAre("say lost", "deregister"));
}

TEST_F(RunMachineTest, ACheckThatPassesLateDoesNotBringItBack) {
    auto options = checked();
    options.fall = 1;
    reset(options);
    serve();
    step(Checked{true});
    answer(Call::register_instance);
    pass(5s);
    EXPECT_THAT(term(), ElementsAre("deregister"));
    EXPECT_THAT(step(Checked{false}), IsEmpty());
    EXPECT_THAT(step(Checked{true}), IsEmpty());
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    EXPECT_THAT(pass(1s), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(pass(1h), IsEmpty());
}

TEST_F(RunMachineTest, DoesNotWaitLongerThanItsLimitForTheDeregistration) {
    serve_registered();
    pass(10s);
    term();
    pass(1'500ms);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::transient),
                ElementsAre("say cannot_renew", "deregister"));
    EXPECT_EQ(left(), 500ms);
    EXPECT_THAT(pass(500ms), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("finish 0"));
}

TEST_F(RunMachineTest, AFailedDeregistrationPassesTheSignalOnAndIsRepeated) {
    serve_registered();
    term();
    EXPECT_THAT(answer(Call::deregister, Outcome::transient), ElementsAre(signal(SIGTERM)));
    EXPECT_EQ(left(), 1s);
    EXPECT_THAT(pass(1s), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("finish 0"));
}

TEST_F(RunMachineTest, PassesTheSignalOnAtOnceWhileRedisIsAway) {
    serve_registered();
    EXPECT_THAT(step(Signalled{SIGTERM, false, true}), ElementsAre(signal(SIGTERM), "deregister"));
    EXPECT_THAT(answer(Call::deregister, Outcome::unreachable), IsEmpty());
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("deregister")) << "it may be back";
    EXPECT_THAT(answer(Call::deregister, Outcome::unreachable),
                ElementsAre("say cannot_deregister", "finish 0"));
}

TEST_F(RunMachineTest, WaitsForNoCallWhileRedisIsAway) {
    serve_registered();
    EXPECT_THAT(pass(10s), ElementsAre("heartbeat"));
    EXPECT_THAT(step(Signalled{SIGTERM, false, true}), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(step(ChildEnded{3, true}), ElementsAre("say cannot_deregister", "finish 3"));
    EXPECT_THAT(answer(Call::heartbeat, Outcome::unreachable), IsEmpty());
}

TEST_F(RunMachineTest, SaysNothingOfWhatWasNeverRegisteredWhileRedisIsAway) {
    serve();
    EXPECT_THAT(step(ChildEnded{3, true}), ElementsAre("finish 3"));
}

TEST_F(RunMachineTest, TheEndWaitsNoLongerThanItsLimit) {
    serve_registered();
    pass(10s);
    EXPECT_THAT(step(ChildEnded{1}), IsEmpty()) << "the heartbeat is under way";
    EXPECT_EQ(left(), 2s);
    pass(1'500ms);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::transient),
                ElementsAre("say cannot_renew", "deregister"));
    EXPECT_EQ(left(), 500ms) << "one limit for both";
    EXPECT_THAT(pass(500ms), ElementsAre("say cannot_deregister", "finish 1"));
}

TEST_F(RunMachineTest, PassesTheSignalOnAtOnceWhenNothingWasRegistered) {
    auto options = checked();
    options.health_flag = false;
    reset(options);
    serve();
    step(Checked{false});
    EXPECT_THAT(term(), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(step(ChildEnded{143}), ElementsAre("finish 143"));
}

TEST_F(RunMachineTest, SettlesForNoTimeWhenToldSo) {
    RunOptions options;
    options.settle = 0ms;
    reset(options);
    serve_registered();
    term();
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered", signal(SIGTERM)));
}

// The end of the command.

TEST_F(RunMachineTest, ACrashDeregistersAtOnceAndKeepsItsCode) {
    serve_registered();
    EXPECT_THAT(step(ChildEnded{139}), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered", "finish 139"));
}

TEST_F(RunMachineTest, ACrashDuringARegistrationTakesItBack) {
    serve();
    EXPECT_THAT(step(ChildEnded{1}), IsEmpty());
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered", "finish 1"));
}

TEST_F(RunMachineTest, ARegistrationWithoutAnswerIsTakenBackToo) {
    serve();
    answer(Call::register_instance, Outcome::transient);
    EXPECT_THAT(step(ChildEnded{1}), ElementsAre("deregister"));
    EXPECT_THAT(answer(Call::deregister, Outcome::gone), ElementsAre("finish 1"));
}

TEST_F(RunMachineTest, EndsWhileTheSignalIsHeld) {
    serve_registered();
    term();
    EXPECT_THAT(step(ChildEnded{0}), IsEmpty()) << "the deregistration is under way";
    EXPECT_THAT(term(), IsEmpty()) << "there is nobody to signal";
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered", "finish 0"));
}

// Other signals.

TEST_F(RunMachineTest, ForwardsOtherSignalsInEveryPhase) {
    step(Started{});
    EXPECT_THAT(step(Signalled{SIGHUP, false}), ElementsAre(signal(SIGHUP)));
    step(PortProbed{true});
    answer(Call::register_instance);
    EXPECT_THAT(step(Signalled{SIGUSR1, false}), ElementsAre(signal(SIGUSR1)));
    term();
    EXPECT_THAT(step(Signalled{SIGHUP, false}), ElementsAre(signal(SIGHUP)));
    answer(Call::deregister);
    pass(1s);
    EXPECT_THAT(step(Signalled{SIGUSR2, false}), ElementsAre(signal(SIGUSR2)));
}

TEST_F(RunMachineTest, SignalsOfTheTerminalGoToTheWholeGroup) {
    serve_registered();
    EXPECT_THAT(step(Signalled{SIGINT, true}), ElementsAre("deregister"));
    answer(Call::deregister);
    EXPECT_THAT(pass(1s), ElementsAre(signal(SIGINT) + " group"));
}

TEST_F(RunMachineTest, IsSuspendedAfterItsCommand) {
    serve_registered();
    EXPECT_THAT(step(Signalled{SIGTSTP, true}),
                ElementsAre(signal(SIGTSTP) + " group", "stop self"));
    EXPECT_THAT(step(Signalled{SIGCONT, false}), ElementsAre(signal(SIGCONT)));
}

TEST_F(RunMachineTest, IsSilentWhenFinished) {
    step(Started{});
    step(ChildEnded{0});
    EXPECT_THAT(term(), IsEmpty());
    EXPECT_THAT(pass(1h), IsEmpty());
    EXPECT_EQ(left(), std::nullopt);
}

// Whatever happens in whatever order: never two calls at once, nothing registered after a
// deregistration of a leaving instance, exactly one end.
TEST_F(RunMachineTest, HoldsItsPromisesInRandomOrders) {
    for (unsigned seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::srand(seed);
        auto options = checked();
        options.fall = 1;
        options.health_flag = seed % 2 == 0;
        reset(options);
        std::optional<Call> under_way;
        bool left_for_good = false;
        bool alive = true;
        int finished = 0;
        auto const follow = [&](RunEvent const& event) {
            for (auto const& action : machine_->step(event, now_)) {
                if (auto const* make = std::get_if<MakeCall>(&action)) {
                    ASSERT_FALSE(under_way) << "two calls at once";
                    ASSERT_FALSE(left_for_good && make->call != Call::deregister);
                    under_way = make->call;
                } else if (std::get_if<SignalChild>(&action)) {
                    ASSERT_TRUE(alive) << "a signal to nobody";
                } else if (std::get_if<Finish>(&action)) {
                    ASSERT_FALSE(alive);
                    ++finished;
                }
            }
        };
        follow(Started{});
        for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
            now_ += std::chrono::milliseconds{std::rand() % 4'000};
            switch (std::rand() % 6) {
                case 0:
                    follow(PortProbed{std::rand() % 2 == 0});
                    break;
                case 1:
                    follow(Checked{std::rand() % 2 == 0});
                    break;
                case 2:
                case 3:
                    if (under_way) {
                        auto const call = *under_way;
                        under_way.reset();
                        follow(Called{call, static_cast<Outcome>(std::rand() % 5)});
                    }
                    break;
                case 4:
                    follow(TimePassed{});
                    break;
                default:
                    if (alive && std::rand() % 8 == 0) {
                        left_for_good = true;
                        follow(Signalled{SIGTERM, false});
                    }
            }
        }
        alive = false;
        left_for_good = true;
        follow(ChildEnded{0});
        for (int i = 0; i < 4 && under_way && !HasFatalFailure(); ++i) {
            auto const call = *under_way;
            under_way.reset();
            follow(Called{call, Outcome::done});
        }
        ASSERT_EQ(finished, 1);
    }
}

}  // namespace
}  // namespace rollcall::cli

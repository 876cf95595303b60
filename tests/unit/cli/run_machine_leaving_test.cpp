#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "run_machine_driver.hpp"

namespace rollcall::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Event = AnnouncementEvent;

// Leaving.

TEST_F(RunMachineTest, DeregistersThenSettlesThenPassesTheSignalOn) {
    serve_registered();
    EXPECT_THAT(term(), ElementsAre("withdraw"));
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered"));
    EXPECT_EQ(left(), 1s);
    EXPECT_THAT(pass(999ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre(signal(SIGTERM)));
    EXPECT_EQ(left(), std::nullopt);
    EXPECT_THAT(pass(1h), IsEmpty()) << "nothing brings it back";
    EXPECT_THAT(step(ChildEnded{7}), ElementsAre("finish 7"));
}

TEST_F(RunMachineTest, TheSecondSignalIsPassedOnAtOnceWithTheFirst) {
    serve_registered();
    term();
    told(Event::released);
    pass(200ms);
    EXPECT_THAT(step(Signalled{SIGINT, false}), ElementsAre(signal(SIGTERM), signal(SIGINT)));
    EXPECT_THAT(term(), ElementsAre(signal(SIGTERM))) << "and further ones";
    EXPECT_THAT(pass(1s), IsEmpty());
    EXPECT_THAT(step(ChildEnded{130}), ElementsAre("finish 130"));
}

TEST_F(RunMachineTest, ARegistrationUnderWayIsTakenBack) {
    serve();
    EXPECT_THAT(term(), ElementsAre("withdraw"));
    EXPECT_THAT(told(Event::registered), IsEmpty()) << "it leaves already";
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered"));
    EXPECT_THAT(pass(1s), ElementsAre(signal(SIGTERM)));
}

TEST_F(RunMachineTest, ACheckThatPassesLateDoesNotBringItBack) {
    auto options = checked();
    options.fall = 1;
    options.health_flag = false;
    reset(options);
    serve();
    step(Checked{true});
    told(Event::registered);
    pass(5s);
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "withdraw for now"));
    EXPECT_THAT(term(), IsEmpty()) << "it is on its way";
    EXPECT_THAT(step(Checked{true}), IsEmpty());
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered"));
    EXPECT_THAT(pass(1s), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(pass(1h), IsEmpty());
}

TEST_F(RunMachineTest, DoesNotWaitLongerThanItsLimitForTheDeregistration) {
    serve_registered();
    term();
    EXPECT_EQ(left(), 2s);
    EXPECT_THAT(pass(2s), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered"));
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("finish 0"));
}

TEST_F(RunMachineTest, ARefusedDeregistrationPassesTheSignalOn) {
    serve_registered();
    term();
    EXPECT_THAT(told(Event::refused), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(step(ChildEnded{0}), IsEmpty()) << "it is tried on";
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", "finish 0"));
}

TEST_F(RunMachineTest, TheEndDoesNotWaitForARefusedDeregistration) {
    serve_registered();
    EXPECT_THAT(step(ChildEnded{3}), ElementsAre("withdraw"));
    EXPECT_THAT(told(Event::refused), ElementsAre("say cannot_deregister", "finish 3"));
}

TEST_F(RunMachineTest, PassesTheSignalOnAtOnceWhileRedisIsAway) {
    serve_registered();
    EXPECT_THAT(step(Signalled{SIGTERM, false, true}), ElementsAre(signal(SIGTERM), "withdraw"));
    EXPECT_THAT(step(ChildEnded{0}), IsEmpty()) << "it is back";
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", "finish 0"));
}

TEST_F(RunMachineTest, TheEndWaitsForNothingWhileRedisIsAway) {
    serve_registered();
    EXPECT_THAT(step(ChildEnded{3, true}),
                ElementsAre("say cannot_deregister", "withdraw", "finish 3"));
    EXPECT_THAT(told(Event::released), IsEmpty());
}

TEST_F(RunMachineTest, SaysNothingOfWhatWasNeverRegisteredWhileRedisIsAway) {
    serve();
    EXPECT_THAT(step(ChildEnded{3, true}), ElementsAre("withdraw", "finish 3"));
}

TEST_F(RunMachineTest, TheEndWaitsNoLongerThanItsLimit) {
    serve_registered();
    EXPECT_THAT(step(ChildEnded{1}), ElementsAre("withdraw"));
    EXPECT_EQ(left(), 2s);
    EXPECT_THAT(pass(1'999ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre("say cannot_deregister", "finish 1"));
}

TEST_F(RunMachineTest, PassesTheSignalOnAtOnceWhenNothingIsAnnounced) {
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
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", signal(SIGTERM)));
}

// The end of the command.

TEST_F(RunMachineTest, ACrashDeregistersAtOnceAndKeepsItsCode) {
    serve_registered();
    EXPECT_THAT(step(ChildEnded{139}), ElementsAre("withdraw"));
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", "finish 139"));
}

TEST_F(RunMachineTest, ACrashBeforeTheRegistrationSaysNothingOfIt) {
    serve();
    EXPECT_THAT(step(ChildEnded{1}), ElementsAre("withdraw"));
    EXPECT_THAT(told(Event::released), ElementsAre("finish 1"));
}

TEST_F(RunMachineTest, EndsWhileTheSignalIsHeld) {
    serve_registered();
    term();
    EXPECT_THAT(step(ChildEnded{0}), IsEmpty()) << "the deregistration is under way";
    EXPECT_THAT(term(), IsEmpty()) << "there is nobody to signal";
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", "finish 0"));
}

// Other signals.

TEST_F(RunMachineTest, ForwardsOtherSignalsInEveryPhase) {
    step(Started{});
    EXPECT_THAT(step(Signalled{SIGHUP, false}), ElementsAre(signal(SIGHUP)));
    step(PortProbed{true});
    told(Event::registered);
    EXPECT_THAT(step(Signalled{SIGUSR1, false}), ElementsAre(signal(SIGUSR1)));
    term();
    EXPECT_THAT(step(Signalled{SIGHUP, false}), ElementsAre(signal(SIGHUP)));
    told(Event::released);
    pass(1s);
    EXPECT_THAT(step(Signalled{SIGUSR2, false}), ElementsAre(signal(SIGUSR2)));
}

TEST_F(RunMachineTest, SignalsOfTheTerminalGoToTheWholeGroup) {
    serve_registered();
    EXPECT_THAT(step(Signalled{SIGINT, true}), ElementsAre("withdraw"));
    told(Event::released);
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

// Whatever happens in whatever order: nothing is announced twice or after the beginning of the end,
// nothing is withdrawn that is not announced, exactly one end.
TEST_F(RunMachineTest, HoldsItsPromisesInRandomOrders) {
    for (unsigned seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::srand(seed);
        auto options = checked();
        options.fall = 1;
        options.health_flag = seed % 2 == 0;
        reset(options);
        bool announced = false;
        bool withdrawn = false;
        bool left_for_good = false;
        bool alive = true;
        int finished = 0;
        auto const follow = [&](RunEvent const& event) {
            for (auto const& action : machine_->step(event, now_)) {
                if (std::get_if<Announce>(&action)) {
                    ASSERT_FALSE(announced || left_for_good);
                    announced = true;
                } else if (std::get_if<MarkHealth>(&action)) {
                    ASSERT_TRUE(announced && !withdrawn && options.health_flag);
                } else if (std::get_if<Withdraw>(&action)) {
                    ASSERT_TRUE(announced && !withdrawn);
                    withdrawn = true;
                } else if (std::get_if<SignalChild>(&action)) {
                    ASSERT_TRUE(alive) << "a signal to nobody";
                } else if (std::get_if<Finish>(&action)) {
                    ASSERT_FALSE(alive);
                    ++finished;
                }
            }
        };
        auto const release = [&] {
            if (!std::exchange(withdrawn, false)) return;
            announced = false;
            follow(Told{Event::released});
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
                    if (announced) {
                        follow(Told{
                            static_cast<Event>(std::rand() % static_cast<int>(Event::released))});
                    }
                    break;
                case 3:
                    release();
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
        if (finished == 0) release();
        ASSERT_EQ(finished, 1);
    }
}

}  // namespace
}  // namespace rollcall::cli

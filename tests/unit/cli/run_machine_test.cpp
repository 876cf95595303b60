#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "run_machine_driver.hpp"

namespace rollcall::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Event = AnnouncementEvent;

// Starting.

TEST_F(RunMachineTest, ProbesUntilThePortAcceptsThenRegisters) {
    EXPECT_THAT(step(Started{}), ElementsAre("probe"));
    EXPECT_THAT(step(PortProbed{false}), IsEmpty());
    EXPECT_EQ(left(), 100ms);
    EXPECT_THAT(pass(99ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre("probe"));
    EXPECT_THAT(pass(1s), IsEmpty()) << "one probe at a time";
    EXPECT_THAT(step(PortProbed{true}), ElementsAre("announce"));
    EXPECT_THAT(told(Event::registered), ElementsAre("say registered"));
}

TEST_F(RunMachineTest, StopsACommandWhosePortNeverAccepts) {
    step(Started{});
    step(PortProbed{false});
    pass(29'900ms);
    step(PortProbed{false});
    EXPECT_EQ(left(), 100ms);
    EXPECT_THAT(pass(100ms), ElementsAre("say never_accepted", signal(SIGTERM)));
    EXPECT_EQ(left(), 10s);
    EXPECT_THAT(pass(10s), ElementsAre(signal(SIGKILL) + " group"));
    EXPECT_EQ(left(), std::nullopt);
    EXPECT_THAT(step(ChildEnded{137}), ElementsAre("finish 5"));
}

TEST_F(RunMachineTest, AProbeThatAnswersAfterTheStartFailedRegistersNothing) {
    step(Started{});
    EXPECT_THAT(pass(30s), ElementsAre("say never_accepted", signal(SIGTERM)));
    EXPECT_THAT(step(PortProbed{true}), IsEmpty());
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("finish 5"));
}

TEST_F(RunMachineTest, TakesTheCodeOfACommandThatEndsBeforeItsPortAccepts) {
    step(Started{});
    EXPECT_THAT(step(ChildEnded{3}), ElementsAre("say ended_early", "finish 3"));
    EXPECT_EQ(left(), std::nullopt);
    EXPECT_THAT(step(PortProbed{true}), IsEmpty());
}

TEST_F(RunMachineTest, PassesSignalsAtOnceWhileStarting) {
    step(Started{});
    EXPECT_THAT(term(), ElementsAre(signal(SIGTERM)));
    EXPECT_THAT(step(PortProbed{true}), IsEmpty()) << "not registered any more";
    EXPECT_THAT(step(ChildEnded{143}), ElementsAre("finish 143"));
}

TEST_F(RunMachineTest, RegistersAtOnceWithoutAStartTimeout) {
    RunOptions options;
    options.start_timeout = 0ms;
    reset(options);
    EXPECT_THAT(step(Started{}), ElementsAre("announce"));
}

// Serving.

TEST_F(RunMachineTest, SleepsWhileAllIsWell) {
    serve_registered();
    EXPECT_EQ(left(), std::nullopt) << "keeping it registered is the library's work";
    EXPECT_THAT(pass(1h), IsEmpty());
}

TEST_F(RunMachineTest, SaysOnceThatItCannotRegisterYet) {
    serve();
    EXPECT_EQ(left(), 2s);
    EXPECT_THAT(pass(1'999ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre("say cannot_register"));
    EXPECT_EQ(left(), std::nullopt);
    EXPECT_THAT(pass(1h), IsEmpty());
    EXPECT_THAT(told(Event::registered), ElementsAre("say registered"));
}

TEST_F(RunMachineTest, SaysNothingOfWhatIsKnown) {
    for (auto const event : {Event::refused, Event::drained}) {
        reset({});
        serve();
        EXPECT_THAT(told(event), IsEmpty());
        EXPECT_THAT(pass(1h), IsEmpty()) << "the library told why";
        EXPECT_THAT(told(Event::registered), ElementsAre("say registered"));
    }
}

TEST_F(RunMachineTest, SaysThatItIsRegisteredAgain) {
    serve_registered();
    for (auto const event : {Event::lost, Event::removed_by_other}) {
        EXPECT_THAT(told(event), IsEmpty()) << "the library tells of that";
        EXPECT_THAT(told(Event::registered), ElementsAre("say registered_again"));
    }
    EXPECT_THAT(told(Event::conflict), IsEmpty());
}

TEST_F(RunMachineTest, SaysThatADrainIsOver) {
    serve_registered();
    EXPECT_THAT(told(Event::drained), IsEmpty());
    EXPECT_THAT(told(Event::restored), ElementsAre("say restored"));
}

// Checks.

TEST_F(RunMachineTest, ChecksBeforeItRegisters) {
    reset(checked());
    step(Started{});
    EXPECT_THAT(step(PortProbed{true}), ElementsAre("check"));
    EXPECT_EQ(left(), std::nullopt) << "nothing is late before the verdict";
    EXPECT_THAT(step(Checked{true}), ElementsAre("announce"));
}

TEST_F(RunMachineTest, AnnouncesAsUnhealthyWhatFailsFromTheBeginning) {
    reset(checked());
    serve();
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "announce unhealthy"));
    EXPECT_THAT(told(Event::registered), ElementsAre("say registered"));
    EXPECT_THAT(pass(5s), ElementsAre("check"));
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "mark healthy"));
}

TEST_F(RunMachineTest, TakesTheInstanceOutAndBackByThresholds) {
    auto options = checked();
    options.fall = 3;
    options.rise = 2;
    reset(options);
    serve();
    step(Checked{true});
    told(Event::registered);
    auto const check = [&](bool passed) {
        EXPECT_THAT(pass(5s), ElementsAre("check"));
        return step(Checked{passed});
    };
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(true), IsEmpty()) << "starts the count anew";
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), ElementsAre("say unhealthy", "mark unhealthy"));
    EXPECT_THAT(check(true), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(true), IsEmpty());
    EXPECT_THAT(check(true), ElementsAre("say healthy", "mark healthy"));
}

TEST_F(RunMachineTest, ChecksOneAtATime) {
    reset(checked());
    serve();
    EXPECT_THAT(pass(1h), IsEmpty());
    step(Checked{true});
    told(Event::registered);
    EXPECT_EQ(left(), 5s);
}

TEST_F(RunMachineTest, MarksAlsoWhatIsNotRegisteredYet) {
    auto options = checked();
    options.fall = 1;
    reset(options);
    serve();
    step(Checked{true});
    EXPECT_THAT(pass(5s), ElementsAre("check", "say cannot_register"));
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "mark unhealthy"));
}

TEST_F(RunMachineTest, WithoutAHealthFlagOutMeansDeregistered) {
    auto options = checked();
    options.health_flag = false;
    options.fall = 1;
    reset(options);
    serve();
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy")) << "not offered at all";
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "announce"));
    EXPECT_THAT(told(Event::registered), ElementsAre("say registered"));
    pass(5s);
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "withdraw for now"));
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered"));
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "announce"));
    EXPECT_THAT(told(Event::registered), ElementsAre("say registered_again"));
}

TEST_F(RunMachineTest, WhatIsHealthyAgainWaitsForTheEndOfItsWithdrawal) {
    auto options = checked();
    options.health_flag = false;
    options.fall = 1;
    reset(options);
    serve();
    step(Checked{true});
    told(Event::registered);
    pass(5s);
    step(Checked{false});
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy"));
    EXPECT_THAT(told(Event::released), ElementsAre("say deregistered", "announce"));
}

}  // namespace
}  // namespace rollcall::cli

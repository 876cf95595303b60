#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "run_machine_driver.hpp"

namespace rollcall::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Starting.

TEST_F(RunMachineTest, ProbesUntilThePortAcceptsThenRegisters) {
    EXPECT_THAT(step(Started{}), ElementsAre("probe"));
    EXPECT_THAT(step(PortProbed{false}), IsEmpty());
    EXPECT_EQ(left(), 100ms);
    EXPECT_THAT(pass(99ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre("probe"));
    EXPECT_THAT(pass(1s), IsEmpty()) << "one probe at a time";
    EXPECT_THAT(step(PortProbed{true}), ElementsAre("register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered"));
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
    EXPECT_THAT(step(Started{}), ElementsAre("register healthy"));
}

// Serving.

TEST_F(RunMachineTest, KeepsItsTimetable) {
    serve_registered();
    EXPECT_EQ(left(), 10s);
    EXPECT_THAT(pass(9'999ms), IsEmpty());
    EXPECT_THAT(pass(1ms), ElementsAre("heartbeat"));
    EXPECT_EQ(left(), std::nullopt) << "the answer is waited for";
    EXPECT_THAT(answer(Call::heartbeat), IsEmpty());
    EXPECT_EQ(left(), 10s);
}

TEST_F(RunMachineTest, HeartbeatsComeEarlyByChanceNeverLate) {
    reset({}, 1.0);
    serve_registered();
    EXPECT_EQ(left(), 8'500ms);
}

TEST_F(RunMachineTest, KeepsTryingToRegisterAndSaysSoOnce) {
    serve();
    EXPECT_THAT(answer(Call::register_instance, Outcome::unreachable),
                ElementsAre("say cannot_register"));
    EXPECT_EQ(left(), 1s);
    EXPECT_THAT(pass(1s), ElementsAre("register healthy"));
    EXPECT_THAT(answer(Call::register_instance, Outcome::transient), IsEmpty());
    EXPECT_THAT(pass(1s), ElementsAre("register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered"));
}

TEST_F(RunMachineTest, ARefusedRegistrationIsTriedAgainOnTheTimetable) {
    serve();
    answer(Call::register_instance, Outcome::refused);
    EXPECT_EQ(left(), 10s);
    EXPECT_THAT(pass(10s), ElementsAre("register healthy"));
}

TEST_F(RunMachineTest, RegistersAgainAtOnceWhenRedisLostIt) {
    serve_registered();
    pass(10s);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::gone),
                ElementsAre("say lost", "register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered_again"));
    EXPECT_EQ(left(), 10s);
}

TEST_F(RunMachineTest, AnInstanceThatLostItsLeaseIsRegisteredAgain) {
    serve_registered();
    pass(10s);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::persistent),
                ElementsAre("say made_persistent", "register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered_again"));
    EXPECT_EQ(left(), 10s);
}

TEST_F(RunMachineTest, AFailedHeartbeatIsRepeatedSoonAndToldOnce) {
    serve_registered();
    pass(10s);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::unreachable), ElementsAre("say cannot_renew"));
    EXPECT_EQ(left(), 1s);
    EXPECT_THAT(pass(1s), ElementsAre("heartbeat"));
    EXPECT_THAT(answer(Call::heartbeat, Outcome::transient), IsEmpty());
    EXPECT_THAT(pass(1s), ElementsAre("heartbeat"));
    EXPECT_THAT(answer(Call::heartbeat), ElementsAre("say renewing_again"));
    EXPECT_EQ(left(), 10s);
}

TEST_F(RunMachineTest, ARefusedHeartbeatKeepsTheTimetable) {
    serve_registered();
    pass(10s);
    EXPECT_THAT(answer(Call::heartbeat, Outcome::refused), ElementsAre("say cannot_renew"));
    EXPECT_EQ(left(), 10s);
}

TEST_F(RunMachineTest, RetriesAreNoRarerThanHeartbeats) {
    RunOptions options;
    options.heartbeat = 333ms;
    reset(options);
    serve();
    answer(Call::register_instance, Outcome::unreachable);
    EXPECT_EQ(left(), 333ms);
}

// Checks.

TEST_F(RunMachineTest, ChecksBeforeItRegisters) {
    reset(checked());
    step(Started{});
    EXPECT_THAT(step(PortProbed{true}), ElementsAre("check"));
    EXPECT_THAT(step(Checked{true}), ElementsAre("register healthy"));
}

TEST_F(RunMachineTest, RegistersAsUnhealthyWhatFailsFromTheBeginning) {
    reset(checked());
    serve();
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "register unhealthy"));
    answer(Call::register_instance);
    EXPECT_THAT(pass(5s), ElementsAre("check"));
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "health healthy"));
}

TEST_F(RunMachineTest, TakesTheInstanceOutAndBackByThresholds) {
    auto options = checked();
    options.fall = 3;
    options.rise = 2;
    options.heartbeat = 1h;
    reset(options);
    serve();
    step(Checked{true});
    answer(Call::register_instance);
    auto const check = [&](bool passed) {
        EXPECT_THAT(pass(5s), ElementsAre("check"));
        return step(Checked{passed});
    };
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(true), IsEmpty()) << "starts the count anew";
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(false), ElementsAre("say unhealthy", "health unhealthy"));
    answer(Call::set_health);
    EXPECT_THAT(check(true), IsEmpty());
    EXPECT_THAT(check(false), IsEmpty());
    EXPECT_THAT(check(true), IsEmpty());
    EXPECT_THAT(check(true), ElementsAre("say healthy", "health healthy"));
}

TEST_F(RunMachineTest, ChecksOneAtATime) {
    reset(checked());
    serve();
    EXPECT_THAT(pass(1h), IsEmpty());
    step(Checked{true});
    answer(Call::register_instance);
    EXPECT_EQ(left(), 5s);
}

TEST_F(RunMachineTest, AnUnansweredHealthWriteIsRepeatedUntilItIsKnown) {
    auto options = checked();
    options.fall = 1;
    options.heartbeat = 1h;
    reset(options);
    serve();
    step(Checked{true});
    answer(Call::register_instance);
    pass(5s);
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "health unhealthy"));
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy")) << "one call at a time";
    EXPECT_THAT(answer(Call::set_health, Outcome::transient), IsEmpty());
    EXPECT_THAT(pass(1s), ElementsAre("health healthy")) << "it may have been stored as unhealthy";
}

TEST_F(RunMachineTest, AFailedHealthWriteIsRepeated) {
    auto options = checked();
    options.fall = 1;
    options.heartbeat = 1h;
    reset(options);
    serve();
    step(Checked{true});
    answer(Call::register_instance);
    pass(5s);
    step(Checked{false});
    EXPECT_THAT(answer(Call::set_health, Outcome::transient), IsEmpty());
    EXPECT_THAT(pass(1s), ElementsAre("health unhealthy"));
    EXPECT_THAT(answer(Call::set_health), IsEmpty());
    EXPECT_EQ(left(), 4s) << "the next check";
}

TEST_F(RunMachineTest, RegistersAgainWhenTheHealthWriteFindsNothing) {
    auto options = checked();
    options.fall = 1;
    reset(options);
    serve();
    step(Checked{true});
    answer(Call::register_instance);
    pass(5s);
    step(Checked{false});
    EXPECT_THAT(answer(Call::set_health, Outcome::gone),
                ElementsAre("say lost", "register unhealthy"));
}

TEST_F(RunMachineTest, WithoutAHealthFlagOutMeansDeregistered) {
    auto options = checked();
    options.health_flag = false;
    options.fall = 1;
    options.heartbeat = 1h;
    reset(options);
    serve();
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy")) << "not offered at all";
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered"));
    pass(5s);
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "deregister for now"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered_again"));
}

}  // namespace
}  // namespace rollcall::cli

#include "cli/run_machine.hpp"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace rollcall::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

std::string name_of(Call call) {
    switch (call) {
        case Call::register_instance:
            return "register";
        case Call::heartbeat:
            return "heartbeat";
        case Call::set_health:
            return "health";
        case Call::deregister:
            return "deregister";
    }
    return {};
}

std::string name_of(Notice notice) {
    switch (notice) {
        case Notice::never_accepted:
            return "say never_accepted";
        case Notice::ended_early:
            return "say ended_early";
        case Notice::cannot_register:
            return "say cannot_register";
        case Notice::registered:
            return "say registered";
        case Notice::registered_again:
            return "say registered_again";
        case Notice::lost:
            return "say lost";
        case Notice::cannot_renew:
            return "say cannot_renew";
        case Notice::renewing_again:
            return "say renewing_again";
        case Notice::unhealthy:
            return "say unhealthy";
        case Notice::healthy:
            return "say healthy";
        case Notice::deregistered:
            return "say deregistered";
        case Notice::cannot_deregister:
            return "say cannot_deregister";
    }
    return {};
}

struct ToText {
    std::string operator()(ProbePort) const { return "probe"; }
    std::string operator()(RunCheck) const { return "check"; }
    std::string operator()(MakeCall const& make) const {
        auto const marked = make.call == Call::register_instance || make.call == Call::set_health;
        return name_of(make.call) + (!marked ? "" : make.healthy ? " healthy" : " unhealthy");
    }
    std::string operator()(SignalChild const& signal) const {
        return "signal " + std::to_string(signal.number) + (signal.group ? " group" : "");
    }
    std::string operator()(StopSelf) const { return "stop self"; }
    std::string operator()(Say const& say) const { return name_of(say.notice); }
    std::string operator()(Finish const& finish) const {
        return "finish " + std::to_string(finish.code);
    }
};

using Texts = std::vector<std::string>;

std::string signal(int number) { return "signal " + std::to_string(number); }

/// Drives a machine by hand, on a clock of its own.
class RunMachineTest : public testing::Test {
protected:
    explicit RunMachineTest() { reset({}); }

    void reset(RunOptions const& options, double jitter = 0.0) {
        machine_.emplace(options, [jitter] { return jitter; });
        now_ = RunMachine::Time{} + 1h;
    }

    Texts step(RunEvent const& event) {
        Texts texts;
        for (auto const& action : machine_->step(event, now_)) {
            texts.push_back(std::visit(ToText{}, action));
        }
        return texts;
    }
    Texts pass(std::chrono::milliseconds time) {
        now_ += time;
        return step(TimePassed{});
    }
    Texts answer(Call call, Outcome outcome = Outcome::done) { return step(Called{call, outcome}); }
    Texts term() { return step(Signalled{SIGTERM, false}); }

    /// How long until the machine wants to be asked.
    std::optional<std::chrono::milliseconds> left() const {
        auto const next = machine_->next_time();
        if (!next) return std::nullopt;
        return std::chrono::duration_cast<std::chrono::milliseconds>(*next - now_);
    }

    void serve() {
        step(Started{});
        step(PortProbed{true});
    }
    void serve_registered() {
        serve();
        answer(Call::register_instance);
    }

    std::optional<RunMachine> machine_;
    RunMachine::Time now_;
};

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
    EXPECT_THAT(pass(10s), ElementsAre(signal(SIGKILL)));
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

RunOptions checked() {
    RunOptions options;
    options.check = true;
    return options;
}

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
    EXPECT_THAT(step(Checked{false}), ElementsAre("say unhealthy", "deregister"));
    EXPECT_THAT(answer(Call::deregister), ElementsAre("say deregistered"));
    pass(5s);
    EXPECT_THAT(step(Checked{true}), ElementsAre("say healthy", "register healthy"));
    EXPECT_THAT(answer(Call::register_instance), ElementsAre("say registered_again"));
}

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
    pass(10s);
    answer(Call::heartbeat, Outcome::unreachable);
    EXPECT_THAT(term(), ElementsAre(signal(SIGTERM), "deregister"));
    EXPECT_THAT(answer(Call::deregister, Outcome::unreachable), IsEmpty());
    EXPECT_THAT(step(ChildEnded{0}), ElementsAre("deregister")) << "one last time";
    EXPECT_THAT(answer(Call::deregister, Outcome::unreachable),
                ElementsAre("say cannot_deregister", "finish 0"));
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

#pragma once

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/supervise/run_machine.hpp"

namespace rollcall::cli {

using namespace std::chrono_literals;

inline std::string name_of(Call call) {
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

inline std::string name_of(Notice notice) {
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
        case Notice::made_persistent:
            return "say made_persistent";
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
        return name_of(make.call) +
               (!marked        ? ""
                : make.healthy ? " healthy"
                               : " unhealthy") +
               (make.comes_back ? " for now" : "");
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

inline std::string signal(int number) { return "signal " + std::to_string(number); }

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

inline RunOptions checked() {
    RunOptions options;
    options.check = true;
    return options;
}

}  // namespace rollcall::cli

#pragma once

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/supervise/run_machine.hpp"

#include "rollcall/announcement.hpp"

namespace rollcall::cli {

using namespace std::chrono_literals;

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
        case Notice::restored:
            return "say restored";
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
    std::string operator()(Announce const& announce) const {
        return announce.healthy ? "announce" : "announce unhealthy";
    }
    std::string operator()(MarkHealth const& mark) const {
        return mark.healthy ? "mark healthy" : "mark unhealthy";
    }
    std::string operator()(Withdraw const& withdraw) const {
        return withdraw.comes_back ? "withdraw for now" : "withdraw";
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

    void reset(RunOptions const& options) {
        machine_.emplace(options);
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
    Texts told(AnnouncementEvent event) { return step(Told{event}); }
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
        told(AnnouncementEvent::registered);
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

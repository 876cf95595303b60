#include "cli/supervise/run_machine.hpp"

#include <algorithm>
#include <csignal>

#include "cli/exit_code.hpp"

namespace rollcall::cli {

RunActions RunMachine::step(RunEvent const& event, Time now) {
    actions_.clear();
    if (phase_ == Phase::finished) return {};
    std::visit([&](auto const& one) { on(one, now); }, event);
    advance(now);
    return std::move(actions_);
}

void RunMachine::on(Started, Time now) {
    probe_at_ = now;
    start_by_ = now + options_.start_timeout;
    if (options_.start_timeout == std::chrono::milliseconds{}) begin_serving(now);
}

void RunMachine::on(TimePassed, Time) {}

void RunMachine::on(PortProbed event, Time now) {
    probing_ = false;
    probe_at_ = now + options_.probe_pause;
    if (phase_ == Phase::starting && event.accepts) begin_serving(now);
}

void RunMachine::begin_serving(Time now) {
    phase_ = Phase::serving;
    check_at_ = now;
}

void RunMachine::on(Checked event, Time now) {
    checking_ = false;
    check_at_ = now + options_.check_interval;
    if (phase_ != Phase::serving) return;
    passes_ = event.passed ? passes_ + 1 : 0;
    failures_ = event.passed ? 0 : failures_ + 1;
    // The first verdict counts by itself: nothing was offered to callers yet.
    auto const healthy = !checked_                                ? event.passed
                         : healthy_ && failures_ >= options_.fall ? false
                         : !healthy_ && passes_ >= options_.rise  ? true
                                                                  : healthy_;
    if (healthy != healthy_ || (!checked_ && !healthy)) {
        say(healthy ? Notice::healthy : Notice::unhealthy);
    }
    checked_ = true;
    healthy_ = healthy;
}

void RunMachine::on(Told told, Time now) {
    switch (told.event) {
        case AnnouncementEvent::registered:
            register_by_.reset();
            if (phase_ == Phase::serving) {
                say(ever_registered_ ? Notice::registered_again : Notice::registered);
            }
            ever_registered_ = true;
            return;
        case AnnouncementEvent::refused:
            return on_refused();
        case AnnouncementEvent::drained:
            register_by_.reset();
            return;
        case AnnouncementEvent::restored:
            if (phase_ == Phase::serving) say(Notice::restored);
            return;
        case AnnouncementEvent::released:
            return on_released(now);
        case AnnouncementEvent::lost:
        case AnnouncementEvent::removed_by_other:
        case AnnouncementEvent::conflict:
        case AnnouncementEvent::persistent:
            return;
    }
}

/// Why is in the log, and waiting helps nobody.
void RunMachine::on_refused() {
    register_by_.reset();
    if (phase_ == Phase::leaving) pass_signals();
    if (phase_ == Phase::ended) give_up_withdrawing();
}

void RunMachine::on_released(Time now) {
    stay_ = Stay::out;
    if (ever_registered_) say(Notice::deregistered);
    if (phase_ == Phase::leaving) settled_at_ = now + options_.settle;
}

void RunMachine::give_up_withdrawing() {
    if (ever_registered_ && stay_ != Stay::out) say(Notice::cannot_deregister);
    gave_up_ = true;
}

void RunMachine::on(Signalled event, Time now) {
    bool const ends = event.number == SIGTERM || event.number == SIGINT;
    if (ends && phase_ == Phase::serving) return leave(event, now);
    if (ends && phase_ == Phase::leaving) {
        held_.push_back(event);
        return pass_signals();
    }
    if (phase_ == Phase::ended) return;
    if (ends) phase_ = Phase::stopping;
    actions_.emplace_back(SignalChild{event.number, event.from_terminal});
    if (event.number == SIGTSTP) actions_.emplace_back(StopSelf{});
}

void RunMachine::leave(Signalled signal, Time now) {
    phase_ = Phase::leaving;
    held_.push_back(signal);
    leave_by_ = now + options_.leave_limit;
    // Nobody can be told while Redis is away, and nobody knows of what is not announced.
    if (signal.redis_away || stay_ == Stay::out) pass_signals();
}

void RunMachine::pass_signals() {
    phase_ = Phase::stopping;
    for (auto const& signal : held_) {
        actions_.emplace_back(SignalChild{signal.number, signal.from_terminal});
    }
    held_.clear();
}

void RunMachine::on(ChildEnded event, Time now) {
    if (phase_ == Phase::starting) say(Notice::ended_early);
    if (!exit_code_) exit_code_ = event.code;
    phase_ = Phase::ended;
    end_by_ = now + options_.leave_limit;
    if (event.redis_away) give_up_withdrawing();
}

void RunMachine::advance(Time now) {
    advance_phase(now);
    advance_stay(now);
    if (phase_ == Phase::ended && (gave_up_ || stay_ == Stay::out)) {
        phase_ = Phase::finished;
        actions_.emplace_back(Finish{exit_code_.value_or(0)});
    }
}

void RunMachine::advance_phase(Time now) {
    switch (phase_) {
        case Phase::starting:
            if (now >= start_by_) {
                say(Notice::never_accepted);
                exit_code_ = static_cast<int>(Exit::timed_out);
                kill_at_ = now + options_.kill_after;
                phase_ = Phase::stopping;
                actions_.emplace_back(SignalChild{SIGTERM, false});
            } else if (!probing_ && now >= probe_at_) {
                probing_ = true;
                actions_.emplace_back(ProbePort{});
            }
            break;
        case Phase::serving:
            advance_serving(now);
            break;
        case Phase::leaving:
            if (settled_at_ ? now >= *settled_at_ : now >= leave_by_) pass_signals();
            break;
        case Phase::stopping:
            if (kill_at_ && now >= *kill_at_) {
                kill_at_.reset();
                actions_.emplace_back(SignalChild{SIGKILL, true});
            }
            break;
        case Phase::ended:
            if (now >= end_by_) give_up_withdrawing();
            break;
        case Phase::finished:
            break;
    }
}

void RunMachine::advance_serving(Time now) {
    if (options_.check && !checking_ && now >= check_at_) {
        checking_ = true;
        actions_.emplace_back(RunCheck{});
    }
    if (register_by_ && now >= *register_by_) {
        register_by_.reset();
        say(Notice::cannot_register);
    }
}

bool RunMachine::wants_announced() const noexcept {
    bool const decided = !options_.check || checked_;
    return phase_ == Phase::serving && decided && (healthy_ || options_.health_flag);
}

void RunMachine::advance_stay(Time now) {
    switch (stay_) {
        case Stay::out:
            if (!wants_announced()) return;
            stay_ = Stay::announced;
            marked_healthy_ = healthy_;
            register_by_ = now + options_.register_limit;
            actions_.emplace_back(Announce{healthy_});
            return;
        case Stay::announced:
            if (!wants_announced()) {
                stay_ = Stay::withdrawn;
                register_by_.reset();
                actions_.emplace_back(Withdraw{phase_ == Phase::serving});
            } else if (marked_healthy_ != healthy_) {
                marked_healthy_ = healthy_;
                actions_.emplace_back(MarkHealth{healthy_});
            }
            return;
        case Stay::withdrawn:
            return;
    }
}

std::optional<RunMachine::Time> RunMachine::next_time() const {
    std::optional<Time> next;
    auto const add = [&](Time time) { next = next ? std::min(*next, time) : time; };
    switch (phase_) {
        case Phase::starting:
            add(start_by_);
            if (!probing_) add(probe_at_);
            break;
        case Phase::serving:
            if (options_.check && !checking_) add(check_at_);
            if (register_by_) add(*register_by_);
            break;
        case Phase::leaving:
            add(settled_at_.value_or(leave_by_));
            break;
        case Phase::stopping:
            if (kill_at_) add(*kill_at_);
            break;
        case Phase::ended:
            add(end_by_);
            break;
        case Phase::finished:
            break;
    }
    return next;
}

}  // namespace rollcall::cli

#include "cli/supervise/run_machine.hpp"

#include <algorithm>
#include <csignal>

#include "cli/exit_code.hpp"

namespace rollcall::cli {

RunMachine::RunMachine(RunOptions options, std::function<double()> jitter)
    : options_(options), jitter_(std::move(jitter)) {
    options_.retry_pause = std::min(options_.retry_pause, options_.heartbeat);
}

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
    call_at_ = now;
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
        call_at_ = now;
    }
    checked_ = true;
    healthy_ = healthy;
}

void RunMachine::on(Called event, Time now) {
    call_.reset();
    switch (event.call) {
        case Call::register_instance:
            return on_registered(event.outcome, now);
        case Call::heartbeat:
            return on_heartbeat(event.outcome, now);
        case Call::set_health:
            return on_health_set(event.outcome, now);
        case Call::deregister:
            return on_deregistered(event.outcome, now);
    }
}

void RunMachine::on_registered(Outcome outcome, Time now) {
    if (outcome != Outcome::done) {
        retry_later(outcome, now);
        return tell_failure(Notice::cannot_register);
    }
    registered_ = true;
    told_failure_ = false;
    beat_at_ = now + beat_pause();
    call_at_ = now;
    if (phase_ == Phase::serving) {
        say(ever_registered_ ? Notice::registered_again : Notice::registered);
    }
    ever_registered_ = true;
}

void RunMachine::tell_failure(Notice notice) {
    if (!told_failure_) say(notice);
    told_failure_ = true;
}

void RunMachine::on_heartbeat(Outcome outcome, Time now) {
    beat_at_ = now + beat_pause();
    if (outcome == Outcome::done) {
        if (told_failure_) say(Notice::renewing_again);
        told_failure_ = false;
    } else if (outcome == Outcome::gone || outcome == Outcome::persistent) {
        registered_ = false;
        call_at_ = now;
        say(outcome == Outcome::gone ? Notice::lost : Notice::made_persistent);
    } else {
        if (outcome != Outcome::refused) beat_at_ = now + options_.retry_pause;
        tell_failure(Notice::cannot_renew);
    }
}

void RunMachine::on_health_set(Outcome outcome, Time now) {
    if (outcome == Outcome::gone) {
        registered_ = false;
        call_at_ = now;
        say(Notice::lost);
    } else if (outcome != Outcome::done) {
        // What is stored now is not known: written again until an answer comes.
        stored_healthy_.reset();
        retry_later(outcome, now);
    }
}

void RunMachine::on_deregistered(Outcome outcome, Time now) {
    bool const done = outcome == Outcome::done || outcome == Outcome::gone;
    if (done) {
        may_be_stored_ = false;
        registered_ = false;
        call_at_ = now;
        if (ever_registered_) say(Notice::deregistered);
        if (phase_ == Phase::leaving) settled_at_ = now + options_.settle;
        return;
    }
    retry_later(outcome, now);
    if (phase_ == Phase::leaving) pass_signals();
    if (phase_ == Phase::ended) give_up_deregistering();
}

void RunMachine::give_up_deregistering() {
    if (ever_registered_ && may_be_stored_) say(Notice::cannot_deregister);
    may_be_stored_ = false;
    gave_up_ = true;
}

void RunMachine::retry_later(Outcome outcome, Time now) {
    call_at_ = now + (outcome == Outcome::refused ? beat_pause() : options_.retry_pause);
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
    call_at_ = now;
    // Nobody can be told while Redis is away, and nobody knows of what was never registered.
    if (signal.redis_away || !may_be_stored_) pass_signals();
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
    call_at_ = now;
    end_by_ = now + options_.leave_limit;
    if (event.redis_away) give_up_deregistering();
}

void RunMachine::advance(Time now) {
    advance_phase(now);
    if (!call_) {
        if (auto const next = next_call(now)) {
            call_ = next->call;
            if (next->call == Call::register_instance) may_be_stored_ = true;
            if (next->call != Call::heartbeat) stored_healthy_ = next->healthy;
            actions_.emplace_back(*next);
        }
    }
    if (phase_ == Phase::ended && (gave_up_ || (!call_ && !may_be_stored_))) {
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
            if (options_.check && !checking_ && now >= check_at_) {
                checking_ = true;
                actions_.emplace_back(RunCheck{});
            }
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
            if (now >= end_by_) give_up_deregistering();
            break;
        case Phase::finished:
            break;
    }
}

bool RunMachine::wants_stored() const noexcept {
    return phase_ == Phase::serving && (healthy_ || options_.health_flag);
}

std::optional<MakeCall> RunMachine::next_call(Time now) const {
    if (phase_ == Phase::starting || (phase_ == Phase::serving && verdict_missing())) return {};
    bool const due = now >= call_at_;
    if (!wants_stored()) {
        bool const comes_back = phase_ == Phase::serving;
        if (may_be_stored_ && due) return MakeCall{Call::deregister, healthy_, comes_back};
        return {};
    }
    if (!registered_) {
        if (due) return MakeCall{Call::register_instance, healthy_};
        return {};
    }
    if (healthy_ != stored_healthy_ && due) return MakeCall{Call::set_health, healthy_};
    if (now >= beat_at_) return MakeCall{Call::heartbeat, healthy_};
    return {};
}

std::chrono::milliseconds RunMachine::beat_pause() const {
    auto const share = 1.0 - 0.15 * jitter_();
    return std::chrono::milliseconds{
        static_cast<std::int64_t>(static_cast<double>(options_.heartbeat.count()) * share)};
}

std::optional<RunMachine::Time> RunMachine::next_time() const {
    std::optional<Time> next;
    auto const add = [&](Time time) { next = next ? std::min(*next, time) : time; };
    switch (phase_) {
        case Phase::starting:
            add(start_by_);
            if (!probing_) add(probe_at_);
            return next;
        case Phase::serving:
            if (options_.check && !checking_) add(check_at_);
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
            return {};
    }
    if (call_ || (phase_ == Phase::serving && verdict_missing())) return next;
    if (!wants_stored()) {
        if (may_be_stored_) add(call_at_);
    } else if (!registered_) {
        add(call_at_);
    } else {
        add(beat_at_);
        if (healthy_ != stored_healthy_) add(call_at_);
    }
    return next;
}

}  // namespace rollcall::cli

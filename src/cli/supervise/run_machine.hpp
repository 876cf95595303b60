#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace rollcall::cli {

/// The timetable of `rollcall run`.
struct RunOptions {
    std::chrono::milliseconds start_timeout{30'000};  ///< For the port to accept; 0: not asked.
    std::chrono::milliseconds settle{1'000};          ///< From deregistered to the signal.
    std::chrono::milliseconds heartbeat{10'000};
    /// How long a signal waits for the deregistration before it is passed on without, and how long
    /// the end waits for it when the command is gone.
    std::chrono::milliseconds leave_limit{2'000};
    std::chrono::milliseconds kill_after{10'000};  ///< From SIGTERM after a failed start.
    std::chrono::milliseconds probe_pause{100};
    std::chrono::milliseconds retry_pause{1'000};  ///< After transient failures.
    bool check = false;
    std::chrono::milliseconds check_interval{5'000};
    int fall = 2;             ///< Failed checks in a row that take the instance out.
    int rise = 1;             ///< Passed checks in a row that bring it back.
    bool health_flag = true;  ///< Out: stored as unhealthy, else deregistered.
};

enum class Call { register_instance, heartbeat, set_health, deregister };

enum class Outcome {
    done,         ///< Stored, alive, or not there any more: what the call is for.
    gone,         ///< The instance is not stored.
    persistent,   ///< It is stored, but has lost its lease: nothing removes it when we die.
    unreachable,  ///< No connection.
    transient,    ///< Failed, may work soon.
    refused,      ///< Failed, and will fail again unless somebody changes something.
};

/// What happened.
struct Started {};
struct TimePassed {};
struct PortProbed {
    bool accepts = false;
};
struct Checked {
    bool passed = false;
};
struct Called {
    Call call = {};
    Outcome outcome = {};
};
struct Signalled {
    int number = 0;
    bool from_terminal = false;  ///< Meant for the whole process group.
    bool redis_away = false;     ///< There is no connection now: nobody can be told.
};
struct ChildEnded {
    int code = 0;  ///< As a shell reports it: 128 + the signal that ended it.
    bool redis_away = false;
};
using RunEvent =
    std::variant<Started, TimePassed, PortProbed, Checked, Called, Signalled, ChildEnded>;

/// What is worth telling.
enum class Notice {
    never_accepted,   ///< The port did not accept in time: the command is stopped.
    ended_early,      ///< The command ended before its port accepted.
    cannot_register,  ///< First failure; retried without further notice.
    registered,
    registered_again,
    lost,             ///< Redis does not know the instance any more.
    made_persistent,  ///< Somebody took its lease; registered again.
    cannot_renew,     ///< First failure; retried without further notice.
    renewing_again,
    unhealthy,
    healthy,
    deregistered,
    cannot_deregister,  ///< It stays until its lease ends.
};

/// What to do.
struct ProbePort {};
struct RunCheck {};
struct MakeCall {
    Call call = {};
    bool healthy = true;      ///< For `register_instance` and `set_health`.
    bool comes_back = false;  ///< For `deregister`: when the check passes, it is registered again.
};
struct SignalChild {
    int number = 0;
    bool group = false;
};
struct StopSelf {};  ///< Like a program that the terminal suspends.
struct Say {
    Notice notice = {};
};
struct Finish {
    int code = 0;
};
using RunAction = std::variant<ProbePort, RunCheck, MakeCall, SignalChild, StopSelf, Say, Finish>;
using RunActions = std::vector<RunAction>;

/// Decides what `rollcall run` does: when the instance is registered, renewed, marked, and removed,
/// and which signals the command gets.
///
/// At most one call, one probe and one check are under way at a time, so that no answer comes out
/// of order: what is registered late cannot undo a deregistration. No I/O, no clock.
class RunMachine {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `jitter` gives numbers from 0 to 1: heartbeats come up to 15 % early, so that those of many
    /// processes spread.
    RunMachine(RunOptions options, std::function<double()> jitter);

    RunActions step(RunEvent const& event, Time now);

    /// When to step with `TimePassed` at the latest; none when only events matter.
    std::optional<Time> next_time() const;

private:
    enum class Phase {
        starting,  ///< The port does not accept yet.
        serving,
        leaving,   ///< A signal waits for the deregistration.
        stopping,  ///< The command has its signal.
        ended,     ///< The command is gone.
        finished,
    };

    void on(Started, Time now);
    void on(TimePassed, Time now);
    void on(PortProbed event, Time now);
    void on(Checked event, Time now);
    void on(Called event, Time now);
    void on(Signalled event, Time now);
    void on(ChildEnded event, Time now);

    void on_registered(Outcome outcome, Time now);
    void on_heartbeat(Outcome outcome, Time now);
    void on_health_set(Outcome outcome, Time now);
    void on_deregistered(Outcome outcome, Time now);
    void begin_serving(Time now);
    void tell_failure(Notice notice);
    void retry_later(Outcome outcome, Time now);
    void leave(Signalled signal, Time now);
    void pass_signals();
    void give_up_deregistering();

    void advance(Time now);
    void advance_phase(Time now);
    std::optional<MakeCall> next_call(Time now) const;
    bool wants_stored() const noexcept;
    bool verdict_missing() const noexcept { return options_.check && !checked_; }
    std::chrono::milliseconds beat_pause() const;
    void say(Notice notice) { actions_.emplace_back(Say{notice}); }

    RunOptions options_;
    std::function<double()> jitter_;
    Phase phase_ = Phase::starting;
    RunActions actions_;

    bool probing_ = false;
    Time probe_at_ = {};
    Time start_by_ = {};

    bool checking_ = false;
    bool checked_ = false;  // There was a verdict.
    Time check_at_ = {};
    int passes_ = 0;
    int failures_ = 0;
    bool healthy_ = true;

    std::optional<Call> call_ = {};  // Under way.
    Time call_at_ = {};              // Not before.
    Time beat_at_ = {};
    bool registered_ = false;
    bool may_be_stored_ = false;  // A registration was sent, and no deregistration was answered.
    bool ever_registered_ = false;
    std::optional<bool> stored_healthy_ = {};  // None: not known.
    bool told_failure_ = false;

    std::vector<Signalled> held_ = {};
    Time leave_by_ = {};
    std::optional<Time> settled_at_ = {};
    std::optional<Time> kill_at_ = {};
    std::optional<int> exit_code_ = {};
    Time end_by_ = {};  // Once the command is gone.
    bool gave_up_ = false;
};

}  // namespace rollcall::cli

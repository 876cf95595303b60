#pragma once

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "rollcall/announcement.hpp"

namespace rollcall::cli {

/// The timetable of `rollcall run`.
struct RunOptions {
    std::chrono::milliseconds start_timeout{30'000};  ///< For the port to accept; 0: not asked.
    std::chrono::milliseconds settle{1'000};          ///< From deregistered to the signal.
    /// After how long it is said that the instance could not be registered yet.
    std::chrono::milliseconds register_limit{2'000};
    /// How long a signal waits for the deregistration before it is passed on without, and how long
    /// the end waits for it when the command is gone.
    std::chrono::milliseconds leave_limit{2'000};
    std::chrono::milliseconds kill_after{10'000};  ///< From SIGTERM after a failed start.
    std::chrono::milliseconds probe_pause{100};
    bool check = false;
    std::chrono::milliseconds check_interval{5'000};
    int fall = 2;             ///< Failed checks in a row that take the instance out.
    int rise = 1;             ///< Passed checks in a row that bring it back.
    bool health_flag = true;  ///< Out: stored as unhealthy, else deregistered.
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
struct Told {
    AnnouncementEvent event = {};  ///< Of what is announced.
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
    std::variant<Started, TimePassed, PortProbed, Checked, Told, Signalled, ChildEnded>;

/// What is worth telling. Of losses, removals and conflicts the library tells.
enum class Notice {
    never_accepted,   ///< The port did not accept in time: the command is stopped.
    ended_early,      ///< The command ended before its port accepted.
    cannot_register,  ///< Not in time; it is tried on.
    registered,
    registered_again,
    restored,  ///< Nobody drains it any more.
    unhealthy,
    healthy,
    deregistered,
    cannot_deregister,  ///< It stays until its lease ends.
};

/// What to do.
struct ProbePort {};
struct RunCheck {};
struct Announce {
    bool healthy = true;
};
struct MarkHealth {
    bool healthy = true;
};
/// `AnnouncementEvent::released` tells when it is done.
struct Withdraw {
    bool comes_back = false;  ///< When the check passes, it is announced again.
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
using RunAction = std::variant<ProbePort, RunCheck, Announce, MarkHealth, Withdraw, SignalChild,
                               StopSelf, Say, Finish>;
using RunActions = std::vector<RunAction>;

/// Decides what `rollcall run` does: when the instance is announced, marked, and withdrawn, and
/// which signals the command gets. How it is kept registered meanwhile is the library's.
///
/// At most one probe and one check are under way at a time, and nothing is announced before what
/// was withdrawn is released, so that no answer comes out of order. No I/O, no clock.
class RunMachine {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit RunMachine(RunOptions const& options) : options_(options) {}

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
    enum class Stay {
        out,
        announced,
        withdrawn,  ///< Not released yet.
    };

    void on(Started, Time now);
    void on(TimePassed, Time now);
    void on(PortProbed event, Time now);
    void on(Checked event, Time now);
    void on(Told event, Time now);
    void on(Signalled event, Time now);
    void on(ChildEnded event, Time now);

    void on_released(Time now);
    void on_refused();
    void begin_serving(Time now);
    void leave(Signalled signal, Time now);
    void pass_signals();
    void give_up_withdrawing();

    void advance(Time now);
    void advance_phase(Time now);
    void advance_serving(Time now);
    void advance_stay(Time now);
    bool wants_announced() const noexcept;
    void say(Notice notice) { actions_.emplace_back(Say{notice}); }

    RunOptions const options_;
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

    Stay stay_ = Stay::out;
    bool marked_healthy_ = true;  // As it is announced.
    bool ever_registered_ = false;
    std::optional<Time> register_by_ = {};  // Until it is registered, or known why not.

    std::vector<Signalled> held_ = {};
    Time leave_by_ = {};
    std::optional<Time> settled_at_ = {};
    std::optional<Time> kill_at_ = {};
    std::optional<int> exit_code_ = {};
    Time end_by_ = {};  // Once the command is gone.
    bool gave_up_ = false;
};

}  // namespace rollcall::cli

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/async_calls.hpp"
#include "cli/eviction_warning.hpp"
#include "cli/logger.hpp"
#include "cli/signal_source.hpp"
#include "cli/supervise/child_process.hpp"
#include "cli/supervise/health_check.hpp"
#include "cli/supervise/run_machine.hpp"

#include "rollcall/announcement.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/registry.hpp"

namespace rollcall::cli {

struct SupervisorOptions {
    RunOptions timetable = {};
    ChildOptions child = {};
    CheckSpec check = {};
    std::chrono::milliseconds check_timeout{2'000};
};

/// The signals that `rollcall run` takes: all that a program may be sent on purpose.
sigset_t supervised_signals();

/// Does what a `RunMachine` decides: owns the command, the timer, and what is announced of it.
///
/// Thread safety: one thread, which is the one that lives as long as the process.
class Supervisor {
public:
    Supervisor(boost::asio::io_context& loop, SignalSource& signals, Backend const& backend,
               Registry registry, ServiceInstance instance, SupervisorOptions options,
               Logger& logger);

    /// Until the command has ended; its exit code, or that of a failed start.
    /// Errors: `UsageError` when another process has its port, `CommandError` when it cannot start.
    int run();

private:
    void refuse_taken_port() const;
    void feed(RunEvent const& event);
    void wait_for_time();
    void on_signal(signalfd_siginfo const& info);
    void on_child();
    void hear(AnnouncementEvent event);
    bool redis_is_away() const;
    std::string why_not() const;
    std::string health_text() const;

    void perform(ProbePort);
    void perform(RunCheck);
    void perform(Announce const& action);
    void perform(MarkHealth const& action);
    void perform(Withdraw const& action);
    void perform(SignalChild const& action);
    void perform(StopSelf);
    void perform(Say const& action);
    void perform(Finish const& action);

    void keep_changes(ServiceInstance const& stored);

    boost::asio::io_context& loop_;
    SignalSource& signals_;
    Backend const& backend_;
    Registry const registry_;
    /// What is announced: as it was given, with what others made of it before it came back.
    ServiceInstance instance_;
    SupervisorOptions const options_;
    Logger& logger_;
    boost::asio::steady_timer timer_;
    AsyncCalls calls_;
    EvictionWarning eviction_;
    HealthCheck health_;
    std::string check_failure_;  // Why the last check failed; empty: it passed.
    RunMachine machine_;
    Announcement announcement_;
    std::optional<ChildProcess> child_ = {};
    bool const had_terminal_;
    int exit_code_ = 0;
};

}  // namespace rollcall::cli

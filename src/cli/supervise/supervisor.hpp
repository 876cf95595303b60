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

#include "rollcall/instance.hpp"

namespace rollcall::cli {

struct SupervisorOptions {
    RunOptions timetable = {};
    ChildOptions child = {};
    CheckSpec check = {};
    std::chrono::milliseconds check_timeout{2'000};
};

/// The signals that `rollcall run` takes: all that a program may be sent on purpose.
sigset_t supervised_signals();

/// Does what a `RunMachine` decides: owns the command, the timer, and the calls to the registry.
///
/// Thread safety: one thread, which is the one that lives as long as the process.
class Supervisor {
public:
    Supervisor(boost::asio::io_context& loop, SignalSource& signals, Backend const& backend,
               ServiceInstance instance, SupervisorOptions options, Logger& logger);

    /// Until the command has ended; its exit code, or that of a failed start.
    /// Errors: `UsageError` when another process has its port, `CommandError` when it cannot start.
    int run();

private:
    void refuse_taken_port() const;
    void feed(RunEvent const& event);
    void wait_for_time();
    void on_signal(signalfd_siginfo const& info);
    void on_child();
    bool redis_is_away();
    void on_written(Call call, Result<Written> const& result);
    void on_liveness(Result<std::vector<Liveness>> const& result);

    void perform(ProbePort);
    void perform(RunCheck);
    void perform(MakeCall const& action);
    void perform(SignalChild const& action);
    void perform(StopSelf);
    void perform(Say const& action);
    void perform(Finish const& action);

    void deregister(InstanceId const& id, bool comes_back);
    void keep_changes(ServiceInstance const& stored);

    void answer(Call call, Outcome outcome) { feed(Called{call, outcome}); }
    Outcome failed(Failure const& failure);

    boost::asio::io_context& loop_;
    SignalSource& signals_;
    Backend const& backend_;
    /// What is registered: as it was given, with what others made of it since.
    ServiceInstance instance_;
    SupervisorOptions const options_;
    Logger& logger_;
    boost::asio::steady_timer timer_;
    AsyncCalls calls_;
    EvictionWarning eviction_;
    HealthCheck health_;
    RunMachine machine_;
    std::optional<ChildProcess> child_ = {};
    bool const had_terminal_;
    std::string last_failure_ = {};
    int exit_code_ = 0;
};

}  // namespace rollcall::cli

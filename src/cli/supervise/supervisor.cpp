#include "cli/supervise/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <stdexcept>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "cli/failure_text.hpp"
#include "cli/own_address.hpp"
#include "cli/parse.hpp"

namespace rollcall::cli {

namespace {

constexpr std::chrono::seconds probe_limit{2};
constexpr std::chrono::milliseconds taken_limit{500};

std::function<double()> random_share() {
    return [generator = std::mt19937{std::random_device{}()}]() mutable {
        return std::uniform_real_distribution<double>{0.0, 1.0}(generator);
    };
}

/// Whether this process has a controlling terminal; no more once that has hung up.
bool has_terminal() {
    auto const terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal < 0) return false;
    close(terminal);
    return true;
}

std::string name_of(ServiceInstance const& instance) {
    return fmt::format("{} of {} at {}", instance.instance_id, instance.service_name,
                       uri(instance));
}

}  // namespace

sigset_t supervised_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int const number :
         {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGCONT, SIGTSTP,
          SIGWINCH, SIGPWR, SIGIO, SIGVTALRM, SIGPROF, SIGXCPU}) {
        sigaddset(&signals, number);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) sigaddset(&signals, number);
    return signals;
}

Supervisor::Supervisor(boost::asio::io_context& loop, SignalSource& signals, Backend const& backend,
                       ServiceInstance instance, SupervisorOptions options, Logger& logger)
    : loop_(loop),
      signals_(signals),
      backend_(backend),
      instance_(std::move(instance)),
      options_(std::move(options)),
      logger_(logger),
      timer_(loop),
      calls_(backend, loop),
      eviction_(loop, backend, logger),
      health_(loop, {instance_.host, "127.0.0.1", "::1"}, instance_.port),
      machine_(options_.timetable, random_share()),
      had_terminal_(has_terminal()) {}

int Supervisor::run() {
    refuse_taken_port();
    child_.emplace(options_.child);
    signals_.start([this](signalfd_siginfo const& info) { on_signal(info); });
    feed(Started{});
    loop_.run();
    return exit_code_;
}

/// Else what another process serves would be registered as the command's.
void Supervisor::refuse_taken_port() const {
    if (options_.timetable.start_timeout == std::chrono::milliseconds{}) return;
    // On this machine only: behind another address, others may serve rightly.
    std::vector<std::string> hosts{"127.0.0.1", "::1"};
    auto const own = interface_addresses();
    if (std::ranges::find(own, instance_.host) != own.end()) hosts.push_back(instance_.host);
    boost::asio::io_context loop{1};
    bool taken = false;
    HealthCheck{loop, std::move(hosts), instance_.port}.connect(
        taken_limit, [&taken](bool accepts) { taken = accepts; });
    loop.run();
    if (!taken) return;
    throw UsageError{"--port", std::to_string(instance_.port),
                     "another process accepts connections there; it must be free for the command "
                     "(--start-timeout 0 registers without asking)"};
}

void Supervisor::feed(RunEvent const& event) {
    for (auto const& action : machine_.step(event, RunMachine::Time::clock::now())) {
        std::visit([this](auto const& one) { perform(one); }, action);
    }
    wait_for_time();
}

void Supervisor::wait_for_time() {
    auto const next = machine_.next_time();
    if (!next) {
        timer_.cancel();
        return;
    }
    timer_.expires_at(*next);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) feed(TimePassed{});
    });
}

void Supervisor::on_signal(signalfd_siginfo const& info) {
    auto const number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) return on_child();
    // The kernel speaks for the terminal, to the whole foreground group. Of a
    // hang-up a shell may tell first, and only this process.
    bool const hung_up = number == SIGHUP && had_terminal_ && !has_terminal();
    feed(Signalled{number, info.ssi_code == SI_KERNEL || hung_up, redis_is_away()});
}

void Supervisor::on_child() {
    // One signal may stand for several children.
    auto const change = child_->reap();
    // By SIGTSTP it is we who suspend it, together with ourselves.
    if (change.stopped_by && *change.stopped_by != SIGTSTP && !change.exit_code) {
        auto const* const name = sigabbrev_np(*change.stopped_by);
        logger_.warning(fmt::format("the command was stopped by SIG{}; it stays registered",
                                    name ? name : std::to_string(*change.stopped_by)));
    }
    if (change.exit_code) feed(ChildEnded{*change.exit_code, redis_is_away()});
}

bool Supervisor::redis_is_away() {
    if (backend_.connected()) return false;
    last_failure_ = make_error_code(errc::not_connected).message();
    return true;
}

Outcome Supervisor::failed(Failure const& failure) {
    last_failure_ = failure_text(failure);
    if (failure.code() == errc::not_connected) return Outcome::unreachable;
    return is_transient(failure.code()) ? Outcome::transient : Outcome::refused;
}

void Supervisor::on_written(Call call, Result<Written> const& result) {
    if (!result) return answer(call, failed(result.error()));
    bool const needs_it = call == Call::set_health;
    answer(call, needs_it && !result->existed ? Outcome::gone : Outcome::done);
}

void Supervisor::on_liveness(Result<std::vector<Liveness>> const& result) {
    if (!result) return answer(Call::heartbeat, failed(result.error()));
    switch (result->front()) {
        case Liveness::alive:
            return answer(Call::heartbeat, Outcome::done);
        case Liveness::gone:
            return answer(Call::heartbeat, Outcome::gone);
        case Liveness::persistent:
            return answer(Call::heartbeat,
                          instance_.ephemeral ? Outcome::persistent : Outcome::done);
        case Liveness::failed:
            last_failure_ = "what Redis holds in its place is no instance";
            return answer(Call::heartbeat, Outcome::refused);
    }
}

void Supervisor::perform(ProbePort) {
    health_.connect(probe_limit, [this](bool accepts) { feed(PortProbed{accepts}); });
}

void Supervisor::perform(RunCheck) {
    health_.check(options_.check, options_.check_timeout,
                  [this](bool passed) { feed(Checked{passed}); });
}

void Supervisor::perform(MakeCall const& action) {
    InstanceId const id{instance_.service_name, instance_.instance_id};
    auto const written = [this, call = action.call](Result<Written> const& result) {
        on_written(call, result);
    };
    switch (action.call) {
        case Call::register_instance: {
            auto instance = instance_;
            instance.healthy = action.healthy;
            return calls_.register_instance(instance, written);
        }
        case Call::heartbeat:
            return calls_.heartbeat({id}, [this](auto const& result) { on_liveness(result); });
        case Call::set_health:
            return calls_.set_healthy(id, action.healthy, written);
        case Call::deregister:
            return deregister(id, action.comes_back);
    }
}

/// What others changed goes with the instance: it is asked for before, where that comes back.
void Supervisor::deregister(InstanceId const& id, bool comes_back) {
    auto const remove = [this, id] {
        calls_.deregister_instance(
            id, [this](auto const& result) { on_written(Call::deregister, result); });
    };
    if (!comes_back) return remove();
    calls_.instance(id, [this, remove](Result<std::optional<Found>> const& stored) {
        if (stored && *stored) keep_changes((*stored)->instance);
        remove();
    });
}

void Supervisor::keep_changes(ServiceInstance const& stored) {
    auto changed = instance_;
    changed.weight = stored.weight;
    changed.metadata = stored.metadata;
    try {
        instance_ = backend_.port()->validated(changed);
    } catch (std::invalid_argument const& error) {
        logger_.warning(fmt::format(
            "what others changed of it will be lost, it would be refused: {}", error.what()));
    }
}

void Supervisor::perform(SignalChild const& action) { child_->signal(action.number, action.group); }

void Supervisor::perform(StopSelf) { std::raise(SIGSTOP); }

void Supervisor::perform(Say const& action) {
    auto const name = name_of(instance_);
    switch (action.notice) {
        case Notice::never_accepted:
            return logger_.error(fmt::format(
                "port {} did not accept within {} (--start-timeout): the command is stopped",
                instance_.port, format_duration(options_.timetable.start_timeout)));
        case Notice::ended_early:
            return logger_.error(
                fmt::format("the command ended before port {} accepted", instance_.port));
        case Notice::cannot_register:
            return logger_.warning("cannot register yet, will keep trying: " + last_failure_);
        case Notice::registered:
            eviction_.ask();
            return logger_.info("registered " + name);
        case Notice::registered_again:
            return logger_.info("registered again " + name);
        case Notice::lost:
            return logger_.warning("Redis does not know the instance any more");
        case Notice::made_persistent:
            return logger_.warning(
                "somebody made the instance persistent: registering it again as ephemeral");
        case Notice::cannot_renew:
            return logger_.warning("cannot renew, will keep trying: " + last_failure_);
        case Notice::renewing_again:
            return logger_.info("renewing again");
        case Notice::unhealthy:
            return logger_.warning("the check fails: taken out");
        case Notice::healthy:
            return logger_.info("the check passes: offered to callers");
        case Notice::deregistered:
            return logger_.info("deregistered " + name);
        case Notice::cannot_deregister:
            return logger_.warning("cannot deregister; it stays until its lease ends: " +
                                   last_failure_);
    }
}

void Supervisor::perform(Finish const& action) {
    exit_code_ = action.code;
    signals_.stop();
    loop_.stop();
}

}  // namespace rollcall::cli

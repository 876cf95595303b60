#include "cli/supervise/supervisor.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "cli/own_address.hpp"
#include "cli/parse.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cli {

namespace {

constexpr std::chrono::seconds probe_limit{2};
constexpr std::chrono::milliseconds taken_limit{500};

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
                       Registry registry, ServiceInstance instance, SupervisorOptions options,
                       Logger& logger)
    : loop_(loop),
      signals_(signals),
      backend_(backend),
      registry_(std::move(registry)),
      instance_(std::move(instance)),
      options_(std::move(options)),
      logger_(logger),
      timer_(loop),
      calls_(backend, loop),
      eviction_(loop, backend, logger),
      health_(loop, {instance_.host, "127.0.0.1", "::1"}, instance_.port),
      machine_(options_.timetable),
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
        taken_limit, [&taken](std::string const& why) { taken = why.empty(); });
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

/// On the callback thread.
void Supervisor::hear(AnnouncementEvent event) {
    boost::asio::post(loop_, [this, event] { feed(Told{event}); });
}

bool Supervisor::redis_is_away() const { return !backend_.connected(); }

void Supervisor::perform(ProbePort) {
    health_.connect(probe_limit, [this](std::string const& why) { feed(PortProbed{why.empty()}); });
}

void Supervisor::perform(RunCheck) {
    health_.check(options_.check, options_.check_timeout, [this](std::string why) {
        bool const passed = why.empty();
        check_failure_ = std::move(why);
        feed(Checked{passed});
    });
}

void Supervisor::perform(Announce const& action) {
    auto instance = instance_;
    instance.healthy = action.healthy;
    AnnounceOptions options;
    options.on_event = [this](AnnouncementEvent event) { hear(event); };
    announcement_ = registry_.announce(instance, std::move(options));
}

void Supervisor::perform(MarkHealth const& action) { announcement_.set_healthy(action.healthy); }

/// What others changed goes with the instance: it is asked for before, where that comes back.
void Supervisor::perform(Withdraw const& action) {
    if (!action.comes_back) return announcement_.start_release();
    InstanceId const id{instance_.service_name, instance_.instance_id};
    calls_.instance(id, [this](Result<std::optional<Found>> const& stored) {
        if (stored && *stored) keep_changes((*stored)->instance);
        announcement_.start_release();
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
            return logger_.warning("cannot register yet, will keep trying: " + why_not());
        case Notice::registered:
            eviction_.ask();
            return logger_.info("registered " + name + health_text());
        case Notice::registered_again:
            return logger_.info("registered again " + name + health_text());
        case Notice::restored:
            return logger_.info("not drained any more: " + name);
        case Notice::unhealthy:
            return logger_.warning(fmt::format("the check of {} fails ({}): not offered to callers",
                                               instance_.instance_id, check_failure_));
        case Notice::healthy:
            return logger_.info(
                fmt::format("the check of {} passes: offered to callers", instance_.instance_id));
        case Notice::deregistered:
            return logger_.info("deregistered " + name);
        case Notice::cannot_deregister:
            return logger_.warning("cannot deregister; it stays until its lease ends: " +
                                   why_not());
    }
}

std::string Supervisor::health_text() const {
    return announcement_.instance().healthy ? "" : ", unhealthy";
}

std::string Supervisor::why_not() const {
    return make_error_code(redis_is_away() ? errc::not_connected : errc::timeout).message();
}

void Supervisor::perform(Finish const& action) {
    exit_code_ = action.code;
    signals_.stop();
    loop_.stop();
}

}  // namespace rollcall::cli

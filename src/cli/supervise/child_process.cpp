#include "cli/supervise/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/close_range.h>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "redis/url.hpp"

namespace rollcall::cli {

namespace {

/// What the child needs, prepared before the fork: behind it only async-signal-safe calls are
/// allowed, as other threads may have held any lock.
struct Preparation {
    std::vector<char*> arguments;
    std::vector<char*> environment;
    std::vector<int> const& descriptors;
    bool keep;
    bool empty_input;
    pid_t parent;
    int report;  // Where `errno` goes when it cannot be executed; closed by `exec`.
};

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(Preparation const& preparation) {
    setpgid(0, 0);
    if (!preparation.keep) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        // The parent may have died before that took effect.
        if (getppid() != preparation.parent) _exit(1);
    }
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    for (int const descriptor : preparation.descriptors) fcntl(descriptor, F_SETFD, 0);
    if (preparation.empty_input) {
        auto const null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null >= 0) dup2(null, STDIN_FILENO);
    }
    reset_signals();
    execvpe(preparation.arguments[0], preparation.arguments.data(), preparation.environment.data());
    int const reason = errno;
    (void)!write(preparation.report, &reason, sizeof reason);
    _exit(127);
}

bool has_password(std::string_view url) {
    try {
        return !redis::Url::parse(url).password.empty();
    } catch (std::invalid_argument const&) {
        // What we cannot take apart may still hold one that others can.
        return url.find('@') != std::string_view::npos;
    }
}

/// Our own variables, but no password of ours.
std::vector<char*> environment_of_child() {
    constexpr std::string_view name = "ROLLCALL_URL=";
    std::vector<char*> variables;
    for (auto** one = environ; *one; ++one) {
        std::string_view const variable{*one};
        if (variable.starts_with(name) && has_password(variable.substr(name.size()))) continue;
        variables.push_back(*one);
    }
    variables.push_back(nullptr);
    return variables;
}

/// Waits until the child has been executed, or says why it cannot be; 0 for success.
int executed(int report) {
    int reason = 0;
    ssize_t got = 0;
    do {
        got = read(report, &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    return got == sizeof reason ? reason : 0;
}

bool asks_to_end(int number) {
    return number == SIGTERM || number == SIGINT || number == SIGQUIT || number == SIGHUP;
}

int exit_code(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ChildProcess::ChildProcess(ChildOptions const& options) {
    std::array<int, 2> report{};
    if (pipe2(report.data(), O_CLOEXEC) != 0) {
        throw CommandError{Exit::failed, std::string{"pipe: "} + std::strerror(errno)};
    }
    std::vector<char*> arguments;
    arguments.reserve(options.command.size() + 1);
    for (auto const& argument : options.command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    Preparation const preparation{std::move(arguments),
                                  environment_of_child(),
                                  options.descriptors,
                                  options.keep,
                                  isatty(STDIN_FILENO) == 1,
                                  getpid(),
                                  report[1]};
    pid_ = fork();
    if (pid_ == 0) become(preparation);
    auto const fork_error = errno;
    close(report[1]);
    if (pid_ < 0) {
        close(report[0]);
        throw CommandError{Exit::failed, std::string{"fork: "} + std::strerror(fork_error)};
    }
    // Also here, so that the group exists before the first signal goes to it.
    setpgid(pid_, pid_);
    auto const reason = executed(report[0]);
    close(report[0]);
    if (reason == 0) return;
    waitpid(pid_, nullptr, 0);
    throw UsageError{"command", options.command.front(),
                     std::string{"cannot be executed: "} + std::strerror(reason)};
}

void ChildProcess::signal(int number, bool group) const noexcept {
    auto const target = group ? -pid_ : pid_;
    ::kill(target, number);
    // Else a stopped one would never hear of it.
    if (asks_to_end(number)) ::kill(target, SIGCONT);
}

ChildProcess::Change ChildProcess::reap() const noexcept {
    Change change;
    while (true) {
        int status = 0;
        auto const pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
        if (pid <= 0) return change;
        if (pid != pid_) continue;
        if (WIFSTOPPED(status)) {
            change.stopped_by = WSTOPSIG(status);
        } else {
            change.exit_code = exit_code(status);
        }
    }
}

std::vector<int> inherited_descriptors() {
    std::vector<int> found;
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fd", error}) {
        auto const name = entry.path().filename().string();
        int descriptor = -1;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        auto const flags = fcntl(descriptor, F_GETFD);
        if (descriptor > STDERR_FILENO && flags >= 0 && !(flags & FD_CLOEXEC)) {
            found.push_back(descriptor);
        }
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace rollcall::cli

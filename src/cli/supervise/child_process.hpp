#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace rollcall::cli {

struct ChildOptions {
    std::vector<std::string> command = {};
    bool keep = false;  ///< Survives this process; else it gets SIGTERM when this one dies.
    /// Descriptors that it inherits besides the standard ones: see `inherited_descriptors`.
    std::vector<int> descriptors = {};
};

/// A command that this process started, in a process group of its own: what a terminal sends to
/// ours reaches it only through us.
class ChildProcess {
public:
    /// Starts the command with no signal blocked or ignored, without descriptors of ours, and
    /// without a `ROLLCALL_URL` that holds a password. Its standard input is empty where ours is a
    /// terminal, which another group must not read.
    ///
    /// Call it on the thread that lives as long as the process: the kernel's SIGTERM follows it.
    /// Errors: `CommandError` with the reason why it cannot be executed.
    explicit ChildProcess(ChildOptions const& options);

    pid_t pid() const noexcept { return pid_; }
    void signal(int number, bool group) const noexcept;

    /// Collects all ended children, also foreign ones that became ours; the exit code, as a shell
    /// reports it, when this one is among them.
    std::optional<int> reap() const noexcept;

private:
    pid_t pid_ = -1;
};

/// Open descriptors from 3 on that survive `exec`: when called at the start of the program, what
/// its parent meant to hand on.
std::vector<int> inherited_descriptors();

}  // namespace rollcall::cli

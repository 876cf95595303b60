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

    /// What became of it.
    struct Change {
        std::optional<int> exit_code = {};   ///< As a shell reports it; none while it lives.
        std::optional<int> stopped_by = {};  ///< The signal that stopped it since the last look.
    };

    pid_t pid() const noexcept { return pid_; }
    /// With a signal that asks it to end, it also goes on when it was stopped.
    void signal(int number, bool group) const noexcept;

    /// Collects all ended children, also foreign ones that became ours.
    Change reap() const noexcept;

private:
    pid_t pid_ = -1;
};

/// Open descriptors from 3 on that survive `exec`: when called at the start of the program, what
/// its parent meant to hand on.
std::vector<int> inherited_descriptors();

}  // namespace rollcall::cli

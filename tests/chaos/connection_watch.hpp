#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <sys/types.h>
#include <vector>

#include "chaos/truth.hpp"

namespace rollcall::chaos {

/// How soon processes notice that their connections are dead, and have them again. Pure: all times
/// are arguments.
class ConnectionWatch {
public:
    void opened(pid_t user, Time at);
    void closed(pid_t user, Time at);
    void ended(pid_t user);  ///< The process: nothing more is expected of it.
    /// Nobody could connect at that time, or be answered.
    void way_was_broken(Time at) { way_from_ = at; }
    /// A connection stopped answering at `silent_from`; its user closed it at `at`, or had not yet.
    /// Of users that waited for a processor for long meanwhile that does not count, nor that they
    /// then wait for an answer once more.
    void noticed(Time silent_from, Time at, std::chrono::nanoseconds waited);

    /// Takes the time of those that are still missing into the figures.
    void look(Time at);
    std::vector<pid_t> missing() const;  ///< Who has fewer connections than once.

    Seconds noticed_max() const noexcept { return noticed_max_; }
    std::size_t noticed() const noexcept { return noticed_; }
    std::size_t held_up() const noexcept { return held_up_; }
    Seconds back_max() const noexcept { return back_max_; }

private:
    struct User {
        std::size_t open = 0;
        std::size_t most = 0;
        std::optional<Time> missing_since = {};
    };

    void take(User const& user, Time at);

    std::map<pid_t, User> users_;
    Time way_from_ = Time::min();
    Seconds noticed_max_{0};
    std::size_t noticed_ = 0;
    std::size_t held_up_ = 0;
    Seconds back_max_{0};
};

}  // namespace rollcall::chaos

#pragma once

#include <chrono>
#include <map>
#include <sys/types.h>

namespace rollcall::chaos {

/// How long each thread of a process has waited for a processor until now; empty when it is gone.
using WaitingTimes = std::map<pid_t, std::chrono::nanoseconds>;
WaitingTimes waiting_times(pid_t process);

/// How much longer the thread that waited most has waited since.
std::chrono::nanoseconds longest_wait(WaitingTimes const& before, WaitingTimes const& after);

}  // namespace rollcall::chaos

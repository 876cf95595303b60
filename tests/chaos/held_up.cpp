#include "chaos/held_up.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace rollcall::chaos {

WaitingTimes waiting_times(pid_t process) {
    WaitingTimes result;
    std::error_code error;
    auto const tasks = "/proc/" + std::to_string(process) + "/task";
    for (auto const& task : std::filesystem::directory_iterator{tasks, error}) {
        long long ran = 0;
        long long waited = 0;
        std::ifstream{task.path() / "schedstat"} >> ran >> waited;
        result[std::stoi(task.path().filename().string())] = std::chrono::nanoseconds{waited};
    }
    return result;
}

std::chrono::nanoseconds longest_wait(WaitingTimes const& before, WaitingTimes const& after) {
    std::chrono::nanoseconds longest{0};
    for (auto const& [thread, waited] : after) {
        auto const then = before.find(thread);
        longest = std::max(longest, then == before.end() ? waited : waited - then->second);
    }
    return longest;
}

}  // namespace rollcall::chaos

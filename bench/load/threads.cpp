#include "load/threads.hpp"

#include <future>
#include <vector>

namespace rollcall::bench {

void on_threads(std::size_t count, std::function<void()> const& work) {
    std::vector<std::future<void>> running;  // The end of each waits for its thread.
    running.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        running.push_back(std::async(std::launch::async, work));
    }
    for (auto& one : running) one.get();
}

}  // namespace rollcall::bench

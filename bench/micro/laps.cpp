#include "laps.hpp"

#include <cmath>
#include <pthread.h>
#include <sched.h>

namespace rollcall::bench {

void Laps::pin(std::size_t thread) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || thread-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

double Laps::nanoseconds() const {
    double sum = 0;
    for (std::size_t i = 0; i < threads_; ++i) {
        auto laps = own_[i].laps;
        if (laps.empty()) return NAN;
        auto const middle = laps.begin() + static_cast<std::ptrdiff_t>(laps.size() / 2);
        std::nth_element(laps.begin(), middle, laps.end());
        sum += *middle;
    }
    return sum / static_cast<double>(threads_);
}

}  // namespace rollcall::bench

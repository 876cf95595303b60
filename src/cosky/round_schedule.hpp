#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace rollcall::cosky {

/// When rounds of renewals begin: a period apart, from beginning to beginning, up to a tenth
/// shorter at random.
///
/// Jitter only shortens: readers reckon with the period as the longest pause.
class RoundSchedule {
public:
    using Clock = std::chrono::steady_clock;

    RoundSchedule(Clock::time_point first, std::chrono::milliseconds period,
                  std::minstd_rand random)
        : next_(first), period_(period), shorter_(0, period.count() / 10), random_(random) {}

    Clock::time_point next() const noexcept { return next_; }

    /// The round has ended at `now`. One that took longer is followed at once, by one round only.
    void advance(Clock::time_point now) {
        next_ = std::max(next_ + period_ - std::chrono::milliseconds{shorter_(random_)}, now);
    }

private:
    Clock::time_point next_;
    std::chrono::milliseconds period_;
    std::uniform_int_distribution<std::chrono::milliseconds::rep> shorter_;
    std::minstd_rand random_;
};

}  // namespace rollcall::cosky

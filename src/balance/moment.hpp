#pragma once

#include <chrono>

namespace rollcall::balance {

/// The time of one choice. A clock costs ten choices, and most of them ask for no time: it is read
/// when it is asked for, once.
class Moment {
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    Moment() noexcept = default;
    explicit Moment(Time now) noexcept : now_(now), known_(true) {}

    Time get() noexcept {
        if (!known_) *this = Moment{Clock::now()};
        return now_;
    }
    bool known() const noexcept { return known_; }
    /// It is known.
    Time get() const noexcept { return now_; }

private:
    Time now_ = {};
    bool known_ = false;
};

}  // namespace rollcall::balance

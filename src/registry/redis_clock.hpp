#pragma once

#include <chrono>
#include <optional>

namespace rollcall {

/// Redis' clock as it was last read, carried on by the monotonic clock, and compared with this
/// machine's. Does no I/O; all times are arguments.
class RedisClock {
public:
    using Time = std::chrono::milliseconds;  ///< Since the epoch.
    using Moment = std::chrono::steady_clock::time_point;

    static constexpr Time skew_limit{2'000};

    /// Takes a reading. Returns by how much this machine's clock is ahead, if that is more than
    /// `skew_limit` either way and was not so at the reading before.
    std::optional<Time> read(Time redis, Time own, Moment now);

    /// What Redis' clock should show; none before the first reading. It may be wrong: clocks are
    /// set, and a fail-over brings another one.
    std::optional<Time> estimate(Moment now) const;

private:
    struct Reading {
        Time redis;
        Moment moment;
    };

    std::optional<Reading> last_;
    bool skewed_ = false;
};

}  // namespace rollcall

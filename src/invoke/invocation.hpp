#pragma once

#include <chrono>
#include <optional>

#include "rollcall/streaming/retry_policy.hpp"

namespace rollcall::streaming {

/// Decides for one invocation whether another attempt follows, and when. No I/O, no clock.
///
///     auto next = invocation.begin(now);
///     while (next != Next::end)
///         next = next == Next::attempt ? … succeeded() or failed(now) : … waited(now);
class Invocation {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    /// What the owner does next: attempt a call, wait until `wait_end()`, or end with what the last
    /// attempt gave, if there was any.
    enum class Next { attempt, wait, end };

    Invocation(RetryPolicy const& policy, std::optional<TimePoint> deadline)
        : policy_(policy), deadline_(deadline) {}

    Next begin(TimePoint now) { return next_attempt(now); }
    Next failed(TimePoint now);
    Next succeeded() const { return Next::end; }
    Next waited(TimePoint now) { return next_attempt(now); }

    int attempts() const noexcept { return attempts_; }
    TimePoint wait_end() const noexcept { return wait_end_; }

private:
    Next next_attempt(TimePoint now);

    RetryPolicy const& policy_;
    std::optional<TimePoint> deadline_;
    int attempts_ = 0;  // Begun.
    TimePoint wait_end_;
};

}  // namespace rollcall::streaming

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// How often a call is tried, and how long to wait between the attempts. Source: spec 13.2.
///
/// The pause behind attempt n, the first being 1, is `initial_delay · backoff_factor^(n−1)` in
/// whole milliseconds, `max_delay` at most, and a random part up to `jitter` on top.
///
/// Thread safety: all members, from any thread, if `random` is.
class RetryPolicy {
public:
    using Duration = std::chrono::milliseconds;
    /// A whole number from 0 to `most`, each as likely.
    using Random = std::function<std::int64_t(std::int64_t most)>;

    /// Nonsense is clamped: at least one attempt, delays and jitter from 0 to a hundred years, a
    /// factor of at least 1 (also for one that is no number), and `max_delay` not below
    /// `initial_delay`. `random` is for tests; none: a generator of each thread's own.
    explicit RetryPolicy(int max_attempts = 3, Duration initial_delay = Duration{10},
                         double backoff_factor = 2.0, Duration max_delay = Duration{200},
                         Duration jitter = Duration{10}, Random random = {});

    int max_attempts() const noexcept { return max_attempts_; }
    Duration initial_delay() const noexcept { return initial_delay_; }
    double backoff_factor() const noexcept { return backoff_factor_; }
    Duration max_delay() const noexcept { return max_delay_; }
    Duration jitter() const noexcept { return jitter_; }

    /// The pause behind that attempt; less than 1 counts as 1.
    Duration delay(int attempt) const;

private:
    int max_attempts_;
    Duration initial_delay_;
    double backoff_factor_;
    Duration max_delay_;
    Duration jitter_;
    Random random_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

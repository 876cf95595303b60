#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// When a breaker opens and how it closes again. Nonsense is clamped, each to the bounds named
/// here.
struct CircuitBreakerConfig {
    /// Calls that are counted before counting begins anew; at least 1.
    int window_size = 20;
    /// The share of failures, of the calls counted, from which on it opens; 0 to 1. With no failure
    /// at all it never opens. Not a number: the default.
    double failure_threshold = 0.5;
    /// How long it denies before it lets trials through; at least 1 ms, at most a hundred years.
    std::chrono::milliseconds open_duration{5'000};
    /// Trials at a time; at least 1.
    int half_open_max_calls = 1;
    /// With fewer calls counted it does not open; 1 to `window_size`. The default is the design's,
    /// with which the very first failure opens it; 5 is a better choice for most services.
    int minimum_calls = 1;
};

/// Keeps calls off an instance that fails. Time is passed in: nothing here waits or looks at a
/// clock. Source: spec 13.3.
///
/// *Closed*, it allows all and counts; *open*, it denies until `open_duration` is over; then, *half
/// open*, it allows trials, of which the first that succeeds closes it and one that fails opens it
/// again.
///
/// Whoever was allowed tells what became of the call, or releases the permit:
///
///     if (auto const permit = breaker.acquire(now)) {
///         … breaker.on_success(), breaker.on_failure(now), or, when neither can be said:
///         breaker.release(*permit);
///     }
///
/// Thread safety: all members, from any thread.
class CircuitBreaker {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    enum class State { closed, open, half_open };

    /// That one call was allowed.
    class Permit {
        friend class CircuitBreaker;
        std::uint64_t period_ = 0;  // Of trials; 0: no trial.
    };

    explicit CircuitBreaker(CircuitBreakerConfig config = {});

    /// Allows one call, or not. An open breaker whose time is over becomes half open by this.
    std::optional<Permit> acquire(TimePoint now);
    /// The design's form, for who always tells what became of the call.
    bool allow(TimePoint now) { return acquire(now).has_value(); }
    /// Whether a call would be denied; changes nothing.
    bool denies(TimePoint now) const;

    void on_success(TimePoint now);
    void on_failure(TimePoint now);
    /// The call ended without an outcome, such as one that was cancelled: another trial may take
    /// its place. Once for each permit.
    void release(Permit permit) noexcept;

    State state() const;
    /// As clamped.
    CircuitBreakerConfig const& config() const noexcept { return config_; }

private:
    void open(TimePoint now) noexcept;
    void close() noexcept;
    void count(bool failed, TimePoint now) noexcept;

    CircuitBreakerConfig const config_;

    std::mutex mutable mutex_;
    // Guarded by it:
    State state_ = State::closed;
    int calls_ = 0;
    int failures_ = 0;
    int trials_ = 0;            // Under way.
    std::uint64_t period_ = 0;  // How often it was half open.
    TimePoint open_until_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

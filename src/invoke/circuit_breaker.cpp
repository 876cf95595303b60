#include "rollcall/streaming/circuit_breaker.hpp"

#include <algorithm>

#include "core/deadline.hpp"

namespace rollcall::streaming {
namespace {

CircuitBreakerConfig clamped(CircuitBreakerConfig config) {
    using Duration = std::chrono::milliseconds;
    auto& threshold = config.failure_threshold;
    bool const is_number = threshold == threshold;  // NOLINT(misc-redundant-expression)
    threshold =
        is_number ? std::clamp(threshold, 0.0, 1.0) : CircuitBreakerConfig{}.failure_threshold;
    config.window_size = std::max(1, config.window_size);
    config.open_duration = std::clamp(config.open_duration, Duration{1}, Duration{longest_limit});
    config.half_open_max_calls = std::max(1, config.half_open_max_calls);
    config.minimum_calls = std::clamp(config.minimum_calls, 1, config.window_size);
    return config;
}

}  // namespace

CircuitBreaker::CircuitBreaker(CircuitBreakerConfig config) : config_(clamped(config)) {}

std::optional<CircuitBreaker::Permit> CircuitBreaker::acquire(TimePoint now) {
    std::lock_guard const lock{mutex_};
    if (state_ == State::closed) return Permit{};
    if (state_ == State::open) {
        if (now < open_until_) return std::nullopt;
        state_ = State::half_open;
        trials_ = 0;
        ++period_;
    }
    if (trials_ >= config_.half_open_max_calls) return std::nullopt;
    ++trials_;
    Permit permit;
    permit.period_ = period_;
    return permit;
}

bool CircuitBreaker::denies(TimePoint now) const {
    std::lock_guard const lock{mutex_};
    switch (state_) {
        case State::closed:
            return false;
        case State::open:
            return now < open_until_;
        case State::half_open:
            return trials_ >= config_.half_open_max_calls;
    }
    return false;
}

void CircuitBreaker::on_success(TimePoint now) {
    std::lock_guard const lock{mutex_};
    if (state_ == State::half_open) {
        close();
    } else {
        count(false, now);
    }
}

void CircuitBreaker::on_failure(TimePoint now) {
    std::lock_guard const lock{mutex_};
    if (state_ == State::half_open) {
        open(now);
    } else {
        count(true, now);
    }
}

void CircuitBreaker::release(Permit permit) noexcept {
    std::lock_guard const lock{mutex_};
    // A trial of an earlier period holds no place any more.
    if (state_ == State::half_open && permit.period_ == period_ && trials_ > 0) --trials_;
}

CircuitBreaker::State CircuitBreaker::state() const {
    std::lock_guard const lock{mutex_};
    return state_;
}

void CircuitBreaker::open(TimePoint now) noexcept {
    state_ = State::open;
    open_until_ = now + config_.open_duration;
}

void CircuitBreaker::close() noexcept {
    state_ = State::closed;
    calls_ = 0;
    failures_ = 0;
}

// An open breaker counts on, as the design's does: calls that were under way may still fail, and
// then it stays open for longer. A success never opens or extends it while it is open.
void CircuitBreaker::count(bool failed, TimePoint now) noexcept {
    ++calls_;
    if (failed) ++failures_;
    bool const counts = failed || state_ == State::closed;
    auto const rate = static_cast<double>(failures_) / calls_;
    if (counts && failures_ > 0 && calls_ >= config_.minimum_calls &&
        rate >= config_.failure_threshold) {
        open(now);
    }
    if (calls_ >= config_.window_size) {
        calls_ = 0;
        failures_ = 0;
    }
}

}  // namespace rollcall::streaming

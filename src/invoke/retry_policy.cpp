#include "rollcall/streaming/retry_policy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "balance/random.hpp"
#include "core/deadline.hpp"

namespace rollcall::streaming {
namespace {

using Duration = RetryPolicy::Duration;

Duration within_limits(Duration given, Duration least = Duration{0}) {
    return std::clamp(given, least, Duration{longest_limit});
}

std::int64_t thread_random(std::int64_t most) {
    auto const choices = static_cast<std::size_t>(most) + 1;
    return static_cast<std::int64_t>(balance::spread(balance::thread_random()(), choices).index);
}

}  // namespace

RetryPolicy::RetryPolicy(int max_attempts, Duration initial_delay, double backoff_factor,
                         Duration max_delay, Duration jitter, Random random)
    : max_attempts_(std::max(1, max_attempts)),
      initial_delay_(within_limits(initial_delay)),
      backoff_factor_(backoff_factor >= 1 ? backoff_factor : 1),
      max_delay_(within_limits(max_delay, initial_delay_)),
      jitter_(within_limits(jitter)),
      // Not the function itself: the name of its type would show in the library.
      random_(random ? std::move(random)
                     : Random{[](std::int64_t most) { return thread_random(most); }}) {}

Duration RetryPolicy::delay(int attempt) const {
    auto delay = max_delay_;
    auto const grown = static_cast<double>(initial_delay_.count()) *
                       std::pow(backoff_factor_, std::max(1, attempt) - 1);
    if (initial_delay_.count() == 0) {
        delay = Duration{0};  // Also where the power is infinite.
    } else if (grown < static_cast<double>(max_delay_.count())) {
        delay = Duration{static_cast<Duration::rep>(grown)};
    }
    if (jitter_.count() == 0) return delay;
    return delay + std::clamp(Duration{random_(jitter_.count())}, Duration{0}, jitter_);
}

}  // namespace rollcall::streaming

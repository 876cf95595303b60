#include "registry/redis_clock.hpp"

#include <utility>

namespace rollcall {

std::optional<RedisClock::Time> RedisClock::read(Time redis, Time own, Moment now) {
    last_ = Reading{redis, now};
    auto const ahead = own - redis;
    bool const skewed = ahead > skew_limit || ahead < -skew_limit;
    if (std::exchange(skewed_, skewed) || !skewed) return std::nullopt;
    return ahead;
}

std::optional<RedisClock::Time> RedisClock::estimate(Moment now) const {
    if (!last_) return std::nullopt;
    return last_->redis + std::chrono::duration_cast<Time>(now - last_->moment);
}

}  // namespace rollcall

#include "redis/deadline_wheel.hpp"

#include <algorithm>

namespace rollcall::redis {

Deadline DeadlineWheel::add(Timed& item) {
    auto const at = std::max(tick(item.deadline), next_);
    buckets_[at % buckets].push_back(item);
    return end_of(at);
}

std::optional<Deadline> DeadlineWheel::next() const {
    for (std::uint64_t i = 0; i < buckets; ++i) {
        auto const at = next_ + i;
        if (!buckets_[at % buckets].empty()) return end_of(at);
    }
    return std::nullopt;
}

}  // namespace rollcall::redis

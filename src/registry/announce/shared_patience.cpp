#include "registry/announce/shared_patience.hpp"

#include <algorithm>

namespace rollcall::announce {
namespace {

/// Of the time that passes, so much comes back.
constexpr int part_of_time = 10;

}  // namespace

SharedPatience::Duration SharedPatience::share(Time now) {
    auto const left = rest(now);
    return 2 * left > all_ ? left : Duration::zero();
}

SharedPatience::Duration SharedPatience::rest(Time now) {
    if (seen_at_ != Time::min() && now > seen_at_) {
        left_ = std::min(all_, left_ + (now - seen_at_) / part_of_time);
    }
    seen_at_ = std::max(seen_at_, now);
    return left_;
}

void SharedPatience::use(Duration waited) { left_ = std::max(Duration::zero(), left_ - waited); }

}  // namespace rollcall::announce

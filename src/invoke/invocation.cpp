#include "invoke/invocation.hpp"

namespace rollcall::streaming {

Invocation::Next Invocation::failed(TimePoint now) {
    if (attempts_ >= policy_.max_attempts()) return Next::end;
    wait_end_ = now + policy_.delay(attempts_);
    // No attempt would follow the pause.
    if (deadline_ && wait_end_ >= *deadline_) return Next::end;
    return Next::wait;
}

Invocation::Next Invocation::next_attempt(TimePoint now) {
    if (deadline_ && now >= *deadline_) return Next::end;
    ++attempts_;
    return Next::attempt;
}

}  // namespace rollcall::streaming

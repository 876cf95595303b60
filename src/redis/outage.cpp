#include "redis/outage.hpp"

#include <utility>

namespace rollcall::redis {

Outage::Outage(Session const& session, Url const& url)
    : session_(session),
      url_(url.to_string()),
      state_(State{std::chrono::steady_clock::now(), 0,
                   Failure{errc::not_connected, url_ + ": no attempt to connect has ended yet"}}) {}

std::optional<Outage::State> Outage::now() const {
    std::lock_guard const lock{mutex_};
    return state_;
}

void Outage::connected() {
    std::lock_guard const lock{mutex_};
    state_.reset();
}

void Outage::disconnected() {
    State state{std::chrono::steady_clock::now(), 1, why()};
    std::lock_guard const lock{mutex_};
    state_ = std::move(state);
}

void Outage::attempt_failed() {
    auto reason = why();
    std::lock_guard const lock{mutex_};
    if (!state_) return;
    state_->attempts = session_.failed_attempts();
    state_->why = std::move(reason);
}

Failure Outage::why() const {
    return {session_.absent() ? errc::not_connected : errc::access_denied,
            url_ + ": " + session_.last_error()};
}

}  // namespace rollcall::redis

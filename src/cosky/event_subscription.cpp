#include "rollcall/cosky/event_subscription.hpp"

#include <utility>

namespace rollcall::cosky {

EventSubscription::EventSubscription() noexcept = default;

EventSubscription::EventSubscription(std::function<void()> stop) noexcept
    : stop_(std::move(stop)) {}

EventSubscription::~EventSubscription() { stop(); }

EventSubscription::EventSubscription(EventSubscription&& other) noexcept
    : stop_(std::exchange(other.stop_, nullptr)) {}

EventSubscription& EventSubscription::operator=(EventSubscription&& other) noexcept {
    if (this != &other) {
        stop();
        stop_ = std::exchange(other.stop_, nullptr);
    }
    return *this;
}

void EventSubscription::stop() noexcept {
    // Taken out first: what it ends may own this.
    if (auto const stop = std::exchange(stop_, nullptr)) stop();
}

}  // namespace rollcall::cosky

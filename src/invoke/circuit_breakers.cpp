#include "invoke/circuit_breakers.hpp"

#include <algorithm>

namespace rollcall::streaming {

CircuitBreakers::CircuitBreakers(CircuitBreakerConfig config, std::size_t most)
    : config_(config), most_(std::max<std::size_t>(1, most)) {}

std::shared_ptr<CircuitBreaker> CircuitBreakers::of(std::string_view service, std::string_view id) {
    std::lock_guard const lock{mutex_};
    if (auto const found = entries_.find(View{service, id}); found != entries_.end()) {
        uses_.splice(uses_.begin(), uses_, found->second.use);
        return found->second.breaker;
    }
    if (entries_.size() >= most_) {
        entries_.erase(entries_.find(*uses_.back()));
        uses_.pop_back();
    }
    auto breaker = std::make_shared<CircuitBreaker>(config_);
    auto const entry = entries_.emplace(Name{service, id}, Entry{breaker, uses_.end()}).first;
    uses_.push_front(&entry->first);
    entry->second.use = uses_.begin();
    return breaker;
}

std::vector<std::string> CircuitBreakers::denying(std::string_view service,
                                                  CircuitBreaker::TimePoint now) const {
    std::vector<std::string> ids;
    std::lock_guard const lock{mutex_};
    for (auto at = entries_.lower_bound(View{service, {}});
         at != entries_.end() && at->first.first == service; ++at) {
        if (at->second.breaker->denies(now)) ids.push_back(at->first.second);
    }
    return ids;
}

std::size_t CircuitBreakers::size() const {
    std::lock_guard const lock{mutex_};
    return entries_.size();
}

}  // namespace rollcall::streaming

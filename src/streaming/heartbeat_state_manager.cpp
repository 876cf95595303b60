#include "rollcall/streaming/heartbeat_state_manager.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace rollcall::streaming {
namespace {

using Time = HeartbeatStateManager::Time;

struct State {
    std::optional<Time> last_heartbeat = {};
    std::optional<Time> last_metadata_update = {};
    Metadata metadata = {};  // As it was last written; empty when changes are of no interest.
};

/// Unambiguous, since sanitised names hold no colon.
std::string key_of(std::string_view service, std::string_view id) {
    std::string key;
    key.reserve(service.size() + 1 + id.size());
    key += service;
    key += ':';
    key += id;
    return key;
}

/// With an interval that does not overflow: longer ones are all the same.
HeartbeatConfig bounded(HeartbeatConfig config) {
    config.metadata_update_interval =
        std::min(config.metadata_update_interval, max_heartbeat_timeout);
    return config;
}

bool has_passed(std::optional<Time> since, Time interval, Time now) noexcept {
    return !since || now - *since >= interval;
}

}  // namespace

struct HeartbeatStateManager::Impl {
    HeartbeatConfig config;
    mutable std::mutex mutex;  // Guards the states.
    std::unordered_map<std::string, State> states = {};
    State const unknown = {};

    /// Call with the mutex held. That of an instance never heard of is empty.
    State const& state_of(std::string const& key) const {
        auto const found = states.find(key);
        return found == states.end() ? unknown : found->second;
    }

    bool may_describe(State const& state, Time now) const noexcept {
        return config.enable_metadata_change_detection &&
               (config.metadata_update_interval.count() <= 0 ||
                has_passed(state.last_metadata_update, config.metadata_update_interval, now));
    }

    UpdateDecision without_change(State const& state, Time now) const noexcept {
        return has_passed(state.last_heartbeat, config.heartbeat_interval, now)
                   ? UpdateDecision::heartbeat_only
                   : UpdateDecision::no_update;
    }

    void keep(State& state, Metadata const& metadata) const {
        if (config.enable_metadata_change_detection) state.metadata = metadata;
    }
};

HeartbeatStateManager::HeartbeatStateManager(HeartbeatConfig config)
    : impl_(std::make_unique<Impl>(bounded(config))) {}
HeartbeatStateManager::~HeartbeatStateManager() = default;
HeartbeatStateManager::HeartbeatStateManager(HeartbeatStateManager&&) noexcept = default;
HeartbeatStateManager& HeartbeatStateManager::operator=(HeartbeatStateManager&&) noexcept = default;

UpdateDecision HeartbeatStateManager::decide(std::string_view service, std::string_view id,
                                             Metadata const& metadata, Time now) const {
    auto const key = key_of(service, id);
    std::lock_guard const lock{impl_->mutex};
    auto const& state = impl_->state_of(key);
    if (impl_->may_describe(state, now) && metadata != state.metadata) {
        return UpdateDecision::metadata_update;
    }
    return impl_->without_change(state, now);
}

UpdateDecision HeartbeatStateManager::decide(std::string_view service, std::string_view id,
                                             Time now) const {
    auto const key = key_of(service, id);
    std::lock_guard const lock{impl_->mutex};
    return impl_->without_change(impl_->state_of(key), now);
}

void HeartbeatStateManager::mark_written(std::string_view service, std::string_view id,
                                         UpdateDecision what, Metadata const& metadata, Time now) {
    if (what == UpdateDecision::no_update) return;
    auto key = key_of(service, id);
    std::lock_guard const lock{impl_->mutex};
    auto& state = impl_->states[std::move(key)];
    state.last_heartbeat = now;
    if (what == UpdateDecision::metadata_update) {
        state.last_metadata_update = now;
        impl_->keep(state, metadata);
    }
}

void HeartbeatStateManager::mark_registered(std::string_view service, std::string_view id,
                                            Metadata const& metadata, Time now) {
    State state;
    state.last_metadata_update = now;
    impl_->keep(state, metadata);
    auto key = key_of(service, id);
    std::lock_guard const lock{impl_->mutex};
    impl_->states.insert_or_assign(std::move(key), std::move(state));
}
void HeartbeatStateManager::forget(std::string_view service, std::string_view id) {
    std::lock_guard const lock{impl_->mutex};
    impl_->states.erase(key_of(service, id));
}

std::size_t HeartbeatStateManager::size() const {
    std::lock_guard const lock{impl_->mutex};
    return impl_->states.size();
}

}  // namespace rollcall::streaming

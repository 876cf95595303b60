#include "rollcall/streaming/heartbeat_state_manager.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace rollcall::streaming {
namespace {

using Time = HeartbeatStateManager::Time;

/// 64-bit FNV-1a over the entries with their lengths, so that no two different descriptions look
/// alike by moving a byte from one text into its neighbour. 0 is kept for the empty description.
class ContentHash {
public:
    void add(std::string_view text) noexcept {
        add(static_cast<std::uint64_t>(text.size()));
        for (char const c : text) mix(static_cast<unsigned char>(c));
    }

    std::uint64_t value() const noexcept { return value_ == 0 ? 1 : value_; }

private:
    void add(std::uint64_t number) noexcept {
        for (int shift = 0; shift < 64; shift += 8) mix((number >> shift) & 0xFF);
    }
    void mix(std::uint64_t byte) noexcept { value_ = (value_ ^ byte) * 0x100000001B3; }

    std::uint64_t value_ = 0xCBF29CE484222325;
};

std::uint64_t hash_of(Metadata const& metadata) noexcept {
    if (metadata.empty()) return 0;
    ContentHash hash;
    for (auto const& [key, value] : metadata) {
        hash.add(key);
        hash.add(value);
    }
    return hash.value();
}

struct State {
    std::optional<Time> last_heartbeat = {};
    std::optional<Time> last_metadata_update = {};
    std::uint64_t metadata_hash = 0;
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

bool has_passed(std::optional<Time> since, Time interval, Time now) noexcept {
    return !since || now - *since >= interval;
}

}  // namespace

struct HeartbeatStateManager::Impl {
    HeartbeatConfig config;
    mutable std::mutex mutex;  // Guards the states.
    std::unordered_map<std::string, State> states = {};

    State state_of(std::string const& key) const {
        std::lock_guard const lock{mutex};
        auto const found = states.find(key);
        return found == states.end() ? State{} : found->second;
    }
};

HeartbeatStateManager::HeartbeatStateManager(HeartbeatConfig config)
    : impl_(std::make_unique<Impl>(config)) {}
HeartbeatStateManager::~HeartbeatStateManager() = default;
HeartbeatStateManager::HeartbeatStateManager(HeartbeatStateManager&&) noexcept = default;
HeartbeatStateManager& HeartbeatStateManager::operator=(HeartbeatStateManager&&) noexcept = default;

UpdateDecision HeartbeatStateManager::decide(std::string_view service, std::string_view id,
                                             Metadata const& metadata, Time now) const {
    auto const& config = impl_->config;
    auto const state = impl_->state_of(key_of(service, id));
    bool const may_describe =
        config.enable_metadata_change_detection &&
        (config.metadata_update_interval.count() <= 0 ||
         has_passed(state.last_metadata_update, config.metadata_update_interval, now));
    if (may_describe && hash_of(metadata) != state.metadata_hash) {
        return UpdateDecision::metadata_update;
    }
    return has_passed(state.last_heartbeat, config.heartbeat_interval, now)
               ? UpdateDecision::heartbeat_only
               : UpdateDecision::no_update;
}

void HeartbeatStateManager::mark_written(std::string_view service, std::string_view id,
                                         UpdateDecision what, Metadata const& metadata, Time now) {
    if (what == UpdateDecision::no_update) return;
    auto const hash = what == UpdateDecision::metadata_update ? hash_of(metadata) : 0;
    std::lock_guard const lock{impl_->mutex};
    auto& state = impl_->states[key_of(service, id)];
    state.last_heartbeat = now;
    if (what == UpdateDecision::metadata_update) {
        state.last_metadata_update = now;
        state.metadata_hash = hash;
    }
}

void HeartbeatStateManager::mark_registered(std::string_view service, std::string_view id,
                                            Metadata const& metadata, Time now) {
    State const state{std::nullopt, now, hash_of(metadata)};
    std::lock_guard const lock{impl_->mutex};
    impl_->states.insert_or_assign(key_of(service, id), state);
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

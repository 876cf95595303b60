#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "rollcall/instance.hpp"

namespace rollcall::live {

/// A moment, or none, that one thread sets and others read.
template <class Clock>
class AtomicTime {
public:
    using Time = typename Clock::time_point;

    std::optional<Time> get() const noexcept {
        auto const count = count_.load(std::memory_order_relaxed);
        if (count == none) return std::nullopt;
        return Time{typename Time::duration{count}};
    }
    void set(std::optional<Time> time) noexcept {
        count_.store(time ? time->time_since_epoch().count() : none, std::memory_order_relaxed);
    }

private:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    std::atomic<std::int64_t> count_ = none;
};

/// What changes about an instance while its description stays: shared by all versions of it, so
/// that a renewal copies nothing and publishes nothing.
///
/// Thread safety: all members; a reader may see a part of what one writer sets in a row.
struct Vitals {
    AtomicTime<std::chrono::system_clock> registered_at;
    AtomicTime<std::chrono::system_clock> last_heartbeat_at;
    AtomicTime<std::chrono::steady_clock> lease_until;
    /// Seen by readers at once, by choices when a table has been told: `TableDraft::reconsider`.
    std::atomic<bool> suspect = false;

    Vitals() noexcept = default;
    explicit Vitals(InstanceState const& state) noexcept { set(state); }

    InstanceState get() const noexcept {
        return {.registered_at = registered_at.get(),
                .last_heartbeat_at = last_heartbeat_at.get(),
                .lease_until = lease_until.get(),
                .suspect = suspect.load(std::memory_order_relaxed)};
    }
    void set(InstanceState const& state) noexcept {
        registered_at.set(state.registered_at);
        last_heartbeat_at.set(state.last_heartbeat_at);
        lease_until.set(state.lease_until);
        suspect.store(state.suspect, std::memory_order_relaxed);
    }
};

}  // namespace rollcall::live

#pragma once

#include <atomic>
#include <chrono>

#include "balance/call_stats.hpp"
#include "core/atomic_time.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::live {

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

    /// None: it was there when the watching began.
    AtomicTime<std::chrono::steady_clock> appeared_at;

    Vitals() noexcept = default;
    explicit Vitals(InstanceState const& state) noexcept { set(state); }
    ~Vitals() { delete calls_.load(std::memory_order_relaxed); }
    Vitals(Vitals const&) = delete;
    Vitals& operator=(Vitals const&) = delete;

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

    /// Made when it is first asked for: most services have nobody who looks at it.
    balance::CallStats& calls() const;

private:
    mutable std::atomic<balance::CallStats*> calls_ = nullptr;
};

}  // namespace rollcall::live

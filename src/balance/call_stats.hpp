#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "balance/moment.hpp"
#include "core/atomic_time.hpp"

#include "rollcall/balancer.hpp"
#include "rollcall/call_outcome.hpp"

namespace rollcall::balance {

/// What is known of the calls to one instance, by all handles of its service in this process. On a
/// line of its own: choices read it while others write those of other instances.
///
/// Thread safety: all members. Of figures that two calls update at the same moment, one update may
/// be lost; of `outstanding` none is.
struct alignas(64) CallStats {
    using Clock = Moment::Clock;
    using Time = Moment::Time;

    /// What has not been seen for so many half-lives is forgotten: who was left alone for it gets
    /// another chance.
    static constexpr int remembered = 4;
    /// Of failures.
    static constexpr std::chrono::seconds half_life{5};

    std::atomic<std::int32_t> outstanding = 0;
    std::atomic<float> latency = 0;            ///< Nanoseconds; 0: none is known.
    std::atomic<float> failing = 0;            ///< Which part of the last calls failed, about.
    std::atomic<std::uint32_t> failures = 0;   ///< In a row.
    std::atomic<std::uint32_t> times_out = 0;  ///< In a row.
    AtomicTime<Clock> measured_at;
    AtomicTime<Clock> failed_at;
    AtomicTime<Clock> out_until;
    AtomicTime<Clock> appeared_at;  ///< None: it was there when the watching began.

    void begin() noexcept { outstanding.fetch_add(1, std::memory_order_relaxed); }
    void give_back() noexcept { outstanding.fetch_sub(1, std::memory_order_relaxed); }

    /// An answer sooner than usual counts by the time since the last; one that is later counts a
    /// quarter at once, so that who gets slow is noticed while others still wait for it.
    void measure(std::chrono::nanoseconds taken, Time now, std::chrono::nanoseconds half) noexcept;
    void succeed(Moment& moment) noexcept;
    /// However fast it was: no latency is learnt from it, unless it was slower than usual.
    void fail(std::optional<std::chrono::nanoseconds> taken, Time now,
              std::chrono::nanoseconds half) noexcept;

    bool is_out(Time now) const noexcept {
        auto const until = out_until.get();
        return until && *until > now;
    }
    void put_out(OutlierEjection const& rule, Time now) noexcept;

    // What counts of it now:

    /// 0: nothing is known. Where nobody has asked for the time, old figures count, too.
    float latency_at(Moment const& moment, std::chrono::nanoseconds half) const noexcept {
        auto const known = latency.load(std::memory_order_relaxed);
        return known == 0 || !moment.known() ? known : latency_unless_old(moment.get(), half);
    }
    float failing_at(Moment& moment) const noexcept;

private:
    float latency_unless_old(Time now, std::chrono::nanoseconds half) const noexcept;
};
static_assert(sizeof(CallStats) == 64);

}  // namespace rollcall::balance

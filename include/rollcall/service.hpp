#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "rollcall/balancer.hpp"
#include "rollcall/call.hpp"
#include "rollcall/change.hpp"
#include "rollcall/choice.hpp"
#include "rollcall/choose_options.hpp"
#include "rollcall/snapshot.hpp"

namespace rollcall::live {
struct ServiceState;
struct WatchState;
}  // namespace rollcall::live

#pragma GCC visibility push(default)

namespace rollcall {

struct ServiceOptions {
    /// What a read gives while Redis cannot be reached.
    enum class OnFailure {
        last_good,  ///< The instances as they were last known, before the first load from disk if
                    ///< they are kept there; `age()` tells since when.
        error,      ///< An error, once nothing has been confirmed for `max_age`; never from disk.
    } on_failure = OnFailure::last_good;
    std::chrono::milliseconds max_age{10'000};  ///< At least 1 ms.
    /// How `choose` and `start_call` choose.
    Balancer balancer = WeightedRandom{};
    Locality locality = {};
    /// An instance that comes while the service is watched gets more and more traffic for that
    /// long, from a tenth of its share on. Zero: all of it at once. At most a year.
    std::chrono::milliseconds slow_start{0};
    OutlierEjection ejection = {.consecutive_failures = 0};
};

/// Keeps a listener subscribed; destroying it unsubscribes.
///
/// Thread safety: one thread at a time, inside the listener, too.
class [[nodiscard]] Watch {
public:
    Watch() noexcept;
    ~Watch();
    Watch(Watch&&) noexcept;
    Watch& operator=(Watch&&) noexcept;

    /// Once it has returned, the listener is not called again, and does not run; inside a listener
    /// and in the client's log callback it returns at once. Idempotent.
    void stop() noexcept;

private:
    friend class Registry;
    friend class Service;
    explicit Watch(std::unique_ptr<live::WatchState> state) noexcept;
    std::unique_ptr<live::WatchState> state_;  // Null: stopped.
};

/// A live view of one service. Copies share one subscription, which ends some time after the last
/// of them (`RegistryOptions::unused_for`).
///
/// What it shows: the instances that readers of the layout find, within a second of their changes
/// while Redis can be reached, and as they were last known while it cannot. A healthy instance is
/// not hidden because Redis lost data: it is suspect until its owner had time to come back.
///
/// Cost: `instances()` and `choose()` are some nanoseconds, take no lock, allocate nothing and
/// never wait for Redis; only a call for a service that is not loaded yet waits for that. The first
/// choice by options of their own makes tables for them; while choices are made by them, they are
/// made with each change. Thread
/// safety: all members, from any thread. Lifetime: keeps what it needs of the client alive. Fork: a
/// child reads what was known at the fork.
class Service {
public:
    std::string const& name() const noexcept;

    /// Errors: why the first load did not end within the client's request timeout, which begins
    /// with the outage where Redis cannot be reached: who asks after it is told at once. Later
    /// none, unless `OnFailure::error` is chosen. Never an empty list for a failure.
    Snapshot instances() const;
    Snapshot instances(std::error_code& error) const;

    /// One instance that may get traffic now, by `ServiceOptions::balancer`; none when there is no
    /// such instance: enabled, healthy and of a weight above 0. Suspects only if nobody else is
    /// there. Errors: as of `instances`.
    Choice choose(ChooseOptions const& options = {}) const;
    Choice choose(ChooseOptions const& options, std::error_code& error) const;
    Choice choose(std::error_code& error) const;

    /// The same, and counts a call to it as outstanding until the result is ended.
    ///
    /// Cost: as of `choose`; by `LowestLatency`, a look at the clock here and at the end.
    Call start_call(ChooseOptions const& options = {}) const;
    Call start_call(ChooseOptions const& options, std::error_code& error) const;
    Call start_call(std::error_code& error) const;

    /// How long ago Redis last confirmed the content; `milliseconds::max()` before the first load,
    /// unless it comes from disk.
    /// At most a second while messages arrive: so late a dead connection is noticed.
    std::chrono::milliseconds age() const noexcept;
    /// Whether messages do not arrive now, so that changes may go unseen.
    bool stale() const noexcept;

    /// Calls `listener` for every change, in order, on the client's callback thread; first once for
    /// each instance that is there, with `ChangeKind::current`. Who falls more than 10,000 changes
    /// behind gets one `resync` instead of them. What the listener throws is logged and ends
    /// nothing.
    ///
    /// Errors: `errc::closed` in a forked child.
    Watch on_change(std::function<void(Change const&)> listener) const;

private:
    friend class Registry;
    explicit Service(std::shared_ptr<live::ServiceState const> state) noexcept
        : state_(std::move(state)) {}
    Call start_call(Snapshot snapshot, ChooseOptions const& options) const;
    std::shared_ptr<live::ServiceState const> state_;  // Never null.
};

}  // namespace rollcall

#pragma GCC visibility pop

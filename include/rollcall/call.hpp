#pragma once

#include <chrono>
#include <optional>

#include "rollcall/call_outcome.hpp"
#include "rollcall/choice.hpp"

namespace rollcall::balance {
class Candidates;
struct CallStats;
}  // namespace rollcall::balance

#pragma GCC visibility push(default)

namespace rollcall {

/// One call to a chosen instance, from the choice to its end; or none, where nobody could be
/// chosen. Pointer-like, as `Choice`; the instance stays valid after the end, too.
///
/// While it lasts, it is counted as outstanding. Tell how it ended: balancers learn from it.
/// Destroyed or assigned to before, it is taken for `CallOutcome::cancelled`.
///
/// Cost: no allocation, no lock (save where a failure takes the instance out of choice).
/// Thread safety: one thread at a time; distinct calls, any number. Lifetime: as of `Choice`.
class [[nodiscard]] Call {
public:
    /// None.
    Call() noexcept = default;
    ~Call() {
        if (calls_ != nullptr) end(CallOutcome::cancelled);
    }
    Call(Call&& other) noexcept;
    Call& operator=(Call&& other) noexcept;

    explicit operator bool() const noexcept { return static_cast<bool>(choice_); }
    ServiceInstance const& operator*() const noexcept { return *choice_; }
    ServiceInstance const* operator->() const noexcept { return choice_.operator->(); }

    // The first of these ends it; whatever comes after does nothing.

    /// Its latency counts from the choice.
    void succeeded() noexcept;
    void failed() noexcept;
    /// For who measures the latency himself, or has none to tell.
    void end(CallOutcome outcome,
             std::optional<std::chrono::nanoseconds> latency = std::nullopt) noexcept;

private:
    friend class Service;
    Call(Choice choice, balance::Candidates const* from, balance::CallStats* calls,
         std::optional<std::chrono::steady_clock::time_point> started) noexcept;
    void end_now(CallOutcome outcome) noexcept;

    Choice choice_;
    balance::Candidates const* from_ = nullptr;  // Part of what the choice keeps.
    balance::CallStats* calls_ = nullptr;        // Of the instance; null: it has ended.
    std::optional<std::chrono::steady_clock::time_point> started_;  // If latencies count.
};

}  // namespace rollcall

#pragma GCC visibility pop

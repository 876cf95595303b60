#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace rollcall::balance {

/// Smooth weighted round robin over candidates that do not change. Source: spec 11.2.
///
/// In each step everybody gains his weight, who then has most (of equals the first) is chosen and
/// pays the sum of all. After Σw/gcd steps everybody has what he began with, so that the choices
/// repeat, and are kept as a table unless that is long.
///
/// Threads share nothing: each goes through the sequence of its own. Where it begins differs, lest
/// all of them, or many short-lived lists one after the other, begin with the heaviest. Shares are
/// exact over every period of a thread; without a table, of one that does not begin with the first
/// step, to one choice.
/// Thread safety: `next`. Cost: of a table two steps whatever the size, else one step for each
/// candidate.
class SmoothRoundRobin {
public:
    /// At least one weight, each at least 1. `turn` counts the lists that were made before for the
    /// same purpose: the first thread begins with the first step if it is 0.
    SmoothRoundRobin(std::span<std::uint32_t const> weights, std::uint64_t turn);

    /// The next candidate of this thread. Numbers of threads count up from anywhere.
    std::size_t next(std::uint64_t thread) noexcept {
        auto& lane = lanes_[thread % lanes_.size()];
        return table_.empty() && !all_equal_ ? step(lane) : chosen_at(take_position(lane));
    }

    /// The next that `allowed(candidate)` is true of; one is. The others lose their turns.
    template <class Allowed>
    std::size_t next(std::uint64_t thread, Allowed const& allowed) {
        auto& lane = lanes_[thread % lanes_.size()];
        if (table_.empty() && !all_equal_) return step(lane, allowed);
        while (true) {
            auto const found = chosen_at(take_position(lane));
            if (allowed(found)) return found;
        }
    }

    std::uint64_t period() const noexcept { return period_; }
    bool has_table() const noexcept { return all_equal_ || !table_.empty(); }
    std::size_t bytes() const noexcept;

private:
    static constexpr std::uint64_t not_begun = ~std::uint64_t{0};

    /// Where a thread is. More threads than lanes share some.
    struct alignas(64) Lane {
        std::atomic<std::uint64_t> position = not_begun;
        std::mutex mutex;                   // Guards what is below, which tables do without.
        std::vector<std::int64_t> current;  ///< By candidate; empty: not begun.
    };

    std::size_t chosen_at(std::uint64_t position) const noexcept {
        return all_equal_ ? position : table_[position];
    }

    std::uint64_t take_position(Lane& lane) noexcept {
        auto position = lane.position.load(std::memory_order_relaxed);
        std::uint64_t after = 0;
        do {
            if (position == not_begun) [[unlikely]]
                position = begin(lane);
            after = position + 1 == period_ ? 0 : position + 1;
        } while (!lane.position.compare_exchange_weak(position, after, std::memory_order_relaxed));
        return position;
    }

    template <class Allowed>
    std::size_t step(Lane& lane, Allowed const& allowed) {
        std::lock_guard const lock{lane.mutex};
        if (lane.current.empty()) lane.current = state_after(first_position());
        std::int64_t sum = 0;
        std::size_t best = weights_.size();
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            if (!allowed(i)) continue;
            lane.current[i] += weights_[i];
            sum += weights_[i];
            if (best == weights_.size() || lane.current[i] > lane.current[best]) best = i;
        }
        lane.current[best] -= sum;
        return best;
    }

    std::size_t step(Lane& lane) noexcept;
    std::uint64_t begin(Lane& lane) noexcept;
    std::uint64_t first_position() noexcept;
    std::vector<std::int64_t> state_after(std::uint64_t steps) const;
    void make_table();

    std::vector<std::uint32_t> weights_;  ///< Divided by what all have in common.
    std::uint64_t period_ = 0;            ///< Their sum.
    bool all_equal_ = false;
    std::vector<std::uint16_t> table_;
    std::uint64_t const turn_;
    std::atomic<std::uint64_t> begun_ = 0;
    std::array<Lane, 16> lanes_;
};

}  // namespace rollcall::balance

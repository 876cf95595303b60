#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace rollcall {

/// A moment, or none, that some threads set and others read.
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

}  // namespace rollcall

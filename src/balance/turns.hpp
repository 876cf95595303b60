#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "balance/random.hpp"
#include "balance/round.hpp"

namespace rollcall::balance {

/// This thread's number for turns; 0: it has none yet.
extern constinit thread_local std::uint32_t turn_thread [[gnu::tls_model("initial-exec")]];

/// Where the threads of one handle are in the rounds that it goes through: counters shared by all
/// threads would cost more than the choices.
///
/// Thread safety: all members. More threads than there are lines share some; then two may take the
/// same turn, or leave one out.
class Turns {
public:
    static constexpr std::size_t levels = 3;

    /// Of this thread and the round of this level: the position behind its last one. In a round
    /// that it has not been in it begins anywhere. Not for an empty round.
    std::uint64_t next(Round const& round, std::size_t level) noexcept {
        auto const thread = turn_thread == 0 ? number_thread() : turn_thread;
        auto& place = lines_[thread % lines_.size()].places[level];
        auto position = place.position.load(std::memory_order_relaxed);
        // Of another round it may be beyond the end of this one: threads that share a line write
        // the two one after the other.
        if (place.round.load(std::memory_order_relaxed) == round.number() &&
            position < round.period()) [[likely]] {
            position = round.behind(position);
        } else {
            position = begin(place, round, thread);
        }
        place.position.store(position, std::memory_order_relaxed);
        return position;
    }

private:
    struct Place {
        std::atomic<std::uint64_t> round = 0;
        std::atomic<std::uint64_t> position = 0;
    };
    static std::uint32_t number_thread() noexcept;
    static std::uint64_t begin(Place& place, Round const& round, std::uint32_t thread) noexcept;

    struct alignas(64) Line {
        std::array<Place, levels> places;
    };
    std::array<Line, 64> lines_;
};

}  // namespace rollcall::balance

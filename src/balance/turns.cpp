#include "balance/turns.hpp"

namespace rollcall::balance {
namespace {

std::atomic<std::uint32_t> threads = 0;

}  // namespace

constinit thread_local std::uint32_t turn_thread = 0;

std::uint32_t Turns::number_thread() noexcept {
    turn_thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return turn_thread;
}

/// Anywhere: lists that come and go would else prefer who is first in them, and threads that begin
/// together would go on together.
std::uint64_t Turns::begin(Place& place, Round const& round, std::uint32_t thread) noexcept {
    Random where{round.number() ^ Random{thread}()};
    place.round.store(round.number(), std::memory_order_relaxed);
    return spread(where(), round.period()).index;
}

}  // namespace rollcall::balance

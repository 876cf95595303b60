#include "balance/random.hpp"

#include <atomic>
#include <chrono>

namespace rollcall::balance {
namespace {

std::atomic<std::uint64_t> generators = 0;

// The time tells processes apart, the address where addresses are random, the count threads.
std::uint64_t fresh_seed() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch().count();
    Random mix{static_cast<std::uint64_t>(now)};
    return mix() ^ Random { reinterpret_cast<std::uintptr_t>(&generators) }() ^
           Random { generators.fetch_add(1, std::memory_order_relaxed) }();
}

struct Seeded {
    Random random{0};
    bool seeded = false;
};

constinit thread_local Seeded own [[gnu::tls_model("initial-exec")]];

}  // namespace

Random& thread_random() noexcept {
    if (!own.seeded) [[unlikely]]
        own = {Random{fresh_seed()}, true};
    return own.random;
}

}  // namespace rollcall::balance

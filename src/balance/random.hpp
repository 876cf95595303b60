#pragma once

#include <cstddef>
#include <cstdint>

namespace rollcall::balance {

/// Splitmix64: eight bytes, no branches; good enough to spread traffic, and for nothing secret.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t operator()() noexcept {
        state_ += 0x9e3779b97f4a7c15;
        auto mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }

private:
    std::uint64_t state_;
};

/// This thread's, different in every thread and process.
Random& thread_random() noexcept;

/// `random` spread over `[0, size)`, and what is left of it: uniform in 2^64, too.
struct Spread {
    std::size_t index;
    std::uint64_t rest;
};
inline Spread spread(std::uint64_t random, std::size_t size) noexcept {
    __extension__ using Wide = unsigned __int128;
    auto const product = Wide{random} * size;
    return {static_cast<std::size_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

}  // namespace rollcall::balance

#include "balance/round.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <utility>

#include "balance/smooth_round_robin.hpp"

namespace rollcall::balance {
namespace {

std::atomic<std::uint64_t> numbers = 0;

/// Near the golden section of `period`, and such that it visits everything.
std::uint64_t golden_step(std::uint64_t period) {
    constexpr double golden = 0.6180339887498949;
    auto const near = static_cast<std::uint64_t>(static_cast<double>(period) * golden);
    auto step = std::clamp<std::uint64_t>(near, 1, period);
    while (std::gcd(step, period) != 1) ++step;
    return step;
}

}  // namespace

Round::Round(std::span<std::uint32_t const> weights)
    : number_(numbers.fetch_add(1, std::memory_order_relaxed) + 1) {
    std::uint32_t divisor = 0;
    for (auto const weight : weights) divisor = std::gcd(divisor, weight);
    period_ = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}) / divisor;
    if (period_ == weights.size()) return;
    SmoothRoundRobin smooth{weights, 0};
    if (smooth.has_table()) {
        sequence_.resize(period_);
        for (auto& turn : sequence_) turn = static_cast<std::uint32_t>(smooth.next(0));
    } else {
        step_ = golden_step(period_);
        lay_out(weights, divisor);
        if (period_ <= most_listed) list();
    }
}

void Round::list() {
    std::vector<std::uint32_t> sequence;
    sequence.reserve(period_);
    std::uint64_t position = 0;
    for (std::uint64_t turn = 0; turn < period_; ++turn) {
        sequence.push_back(static_cast<std::uint32_t>(at(position)));
        position = behind(position);
    }
    sequence_ = std::move(sequence);
    step_ = 1;
    ends_ = {};
    firsts_ = {};
}

void Round::lay_out(std::span<std::uint32_t const> weights, std::uint32_t divisor) {
    std::uint64_t end = 0;
    ends_.reserve(weights.size());
    for (auto const weight : weights) ends_.push_back(end += weight / divisor);
    // About as many stretches as weights: a turn then looks at two of them on average.
    auto const bits = std::bit_width(period_) - std::bit_width(weights.size());
    shift_ = static_cast<int>(std::max(bits, decltype(bits){0}));
    auto const stretches = ((period_ - 1) >> shift_) + 1;
    firsts_.reserve(stretches);
    std::uint32_t index = 0;
    for (std::uint64_t stretch = 0; stretch < stretches; ++stretch) {
        while (ends_[index] <= stretch << shift_) ++index;
        firsts_.push_back(index);
    }
}

}  // namespace rollcall::balance

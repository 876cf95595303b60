#include "balance/smooth_round_robin.hpp"

#include <algorithm>
#include <numeric>

#include "balance/random.hpp"

namespace rollcall::balance {
namespace {

// Of a table: a step costs something for each candidate.
constexpr std::uint64_t most_work = std::uint64_t{1} << 16;

/// `part` / `whole` of `steps`, and what is left over.
struct Share {
    std::uint64_t whole;
    std::uint64_t rest;
};
Share share(std::uint64_t part, std::uint64_t steps, std::uint64_t whole) noexcept {
    __extension__ using Wide = unsigned __int128;
    auto const product = Wide{part} * steps;
    return {static_cast<std::uint64_t>(product / whole),
            static_cast<std::uint64_t>(product % whole)};
}

}  // namespace

SmoothRoundRobin::SmoothRoundRobin(std::span<std::uint32_t const> weights, std::uint64_t turn)
    : weights_(weights.begin(), weights.end()), turn_(turn) {
    auto const common = std::accumulate(weights_.begin(), weights_.end(), 0U,
                                        [](auto a, auto b) { return std::gcd(a, b); });
    for (auto& weight : weights_) weight /= common;
    period_ = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
    // Each is chosen once, in order.
    all_equal_ = period_ == weights_.size();
    if (!all_equal_ && period_ <= most_work / weights_.size()) make_table();
}

std::size_t SmoothRoundRobin::bytes() const noexcept {
    auto const lanes = has_table() ? 0 : lanes_.size() * weights_.size() * sizeof(std::int64_t);
    return sizeof *this + weights_.size() * sizeof weights_[0] + table_.size() * sizeof table_[0] +
           lanes;
}

void SmoothRoundRobin::make_table() {
    table_.resize(period_);
    std::vector<std::int64_t> current(weights_.size());
    for (auto& chosen : table_) {
        std::size_t best = 0;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            current[i] += weights_[i];
            if (current[i] > current[best]) best = i;
        }
        current[best] -= static_cast<std::int64_t>(period_);
        chosen = static_cast<std::uint16_t>(best);
    }
}

std::size_t SmoothRoundRobin::step(Lane& lane) noexcept {
    return step(lane, [](std::size_t) { return true; });
}

std::uint64_t SmoothRoundRobin::begin(Lane& lane) noexcept {
    auto before = not_begun;
    auto const first = first_position();
    // Another thread with this lane may have been faster.
    return lane.position.compare_exchange_strong(before, first, std::memory_order_relaxed) ? first
                                                                                           : before;
}

/// Multiples of two irrational numbers, without what is in front of the point: spread over the
/// period more evenly than random numbers, however many there are. The first is 0.
std::uint64_t SmoothRoundRobin::first_position() noexcept {
    constexpr std::uint64_t of_turns = 0x9e3779b97f4a7c15;    // (√5 − 1) / 2
    constexpr std::uint64_t of_threads = 0x6a09e667f3bcc909;  // √2 − 1
    auto const begun = begun_.fetch_add(1, std::memory_order_relaxed);
    return spread(turn_ * of_turns + begun * of_threads, period_).index;
}

/// What everybody has when about his share of `steps` was chosen: what these steps would leave, but
/// for where they round. They may be too many to be made.
std::vector<std::int64_t> SmoothRoundRobin::state_after(std::uint64_t steps) const {
    struct Rest {
        std::uint64_t size;
        std::size_t candidate;
    };
    std::vector<std::int64_t> current;
    std::vector<Rest> rests;
    auto left = steps;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        auto const [chosen, rest] = share(weights_[i], steps, period_);
        current.push_back(static_cast<std::int64_t>(rest));
        rests.push_back({rest, i});
        left -= chosen;
    }
    // Less than there are candidates. Who lacks most was chosen once more.
    auto const end = rests.begin() + static_cast<std::ptrdiff_t>(left);
    std::ranges::nth_element(rests, end, std::greater<>{}, &Rest::size);
    std::for_each(rests.begin(), end, [&](Rest const& one) {
        current[one.candidate] -= static_cast<std::int64_t>(period_);
    });
    return current;
}

}  // namespace rollcall::balance

#include "balance/alias_table.hpp"

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <limits>
#include <numeric>

namespace rollcall::balance {
namespace {

std::uint64_t sum(std::span<std::uint64_t const> weights) {
    return std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
}

// Of the weights, which it makes so small that the product with their number fits: they come from
// others.
std::uint64_t limited_sum(std::span<std::uint64_t> weights) {
    auto const full = sum(weights);
    // Not every library gives `int` here.
    auto const bits = static_cast<int>(std::bit_width(full) + std::bit_width(weights.size()));
    if (bits <= 63) return full;
    for (auto& weight : weights) weight >>= bits - 63;
    return sum(weights);
}

// Of 2^32. The way over signed numbers is one instruction.
std::uint32_t fraction(std::uint64_t weight, double unit) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    auto const scaled = static_cast<double>(static_cast<std::int64_t>(weight)) * unit;
    return static_cast<std::uint32_t>(std::min(static_cast<std::int64_t>(scaled), most));
}

}  // namespace

AliasTable::AliasTable(std::span<std::uint64_t> weights) {
    auto const size = static_cast<std::uint32_t>(weights.size());
    auto const full = limited_sum(weights);
    auto const unit = 0x1p32 / static_cast<double>(full);
    slots_.resize(size);
    // In units of which a slot holds as many as all weights together. Whole numbers: at the end
    // nothing is left over for rounding to give to a weight of 0. Whether a weight fills its slot
    // is a matter of chance, so nothing below branches on it.
    boost::container::small_vector<std::uint32_t, 64> small(size + 1,
                                                            boost::container::default_init);
    boost::container::small_vector<std::uint32_t, 64> large(size + 1,
                                                            boost::container::default_init);
    std::size_t smalls = 0;
    std::size_t larges = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        weights[i] *= size;
        slots_[i] = {std::numeric_limits<std::uint32_t>::max(), i};
        bool const fits = weights[i] < full;
        small[smalls] = i;
        large[larges] = i;
        smalls += fits ? 1 : 0;
        larges += fits ? 0 : 1;
    }
    // A large weight tops up the slots of small ones until it is small itself.
    for (std::size_t next = 0; next < smalls; ++next) {
        auto const one = small[next];
        auto const other = large[larges - 1];
        slots_[one] = {fraction(weights[one], unit), other};
        weights[other] -= full - weights[one];
        bool const fits = weights[other] < full;
        small[smalls] = other;
        smalls += fits ? 1 : 0;
        larges -= fits ? 1 : 0;
    }
}

}  // namespace rollcall::balance

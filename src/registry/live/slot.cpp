#include "registry/live/slot.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

namespace rollcall::live {
namespace {

std::atomic<std::uint64_t> versions = 0;
std::atomic<std::uint64_t> given_back = 0;

/// Gives the lowest number that is free.
class Numbers {
public:
    std::uint32_t take() {
        std::lock_guard const lock{mutex_};
        if (free_.empty()) {
            taken_.push_back(next_version());
            // Giving back must not fail.
            free_.reserve(taken_.capacity());
            return static_cast<std::uint32_t>(taken_.size() - 1);
        }
        std::pop_heap(free_.begin(), free_.end(), std::greater<>{});
        auto const number = free_.back();
        free_.pop_back();
        taken_[number] = next_version();
        return number;
    }

    void give_back(std::uint32_t number) noexcept {
        std::lock_guard const lock{mutex_};
        taken_[number] = std::numeric_limits<std::uint64_t>::max();
        free_.push_back(number);
        std::push_heap(free_.begin(), free_.end(), std::greater<>{});
        given_back.fetch_add(1, std::memory_order_relaxed);
    }

    void visit(std::uint32_t end,
               std::function<void(std::uint32_t, std::uint64_t)> const& visit) const {
        std::lock_guard const lock{mutex_};
        auto const last = std::min<std::size_t>(end, taken_.size());
        for (std::uint32_t number = 0; number < last; ++number) visit(number, taken_[number]);
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::uint32_t> free_;
    std::vector<std::uint64_t> taken_;  ///< When, as a version; of a free one: in the far future.
};

// The tables of threads are one for the process, so their numbers are, too. Never destroyed: cells
// may be, after everything here that is static.
Numbers& numbers() {
    static auto& all = *new Numbers;
    return all;
}

}  // namespace

Slot::Slot() : number_(numbers().take()) {}

Slot::~Slot() { numbers().give_back(number_); }

std::uint64_t next_version() noexcept {
    return versions.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t slots_given_back() noexcept { return given_back.load(std::memory_order_relaxed); }

void visit_slots(std::uint32_t end,
                 std::function<void(std::uint32_t, std::uint64_t)> const& visit) {
    numbers().visit(end, visit);
}

}  // namespace rollcall::live

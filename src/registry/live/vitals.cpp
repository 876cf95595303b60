#include "registry/live/vitals.hpp"

#include <memory>

namespace rollcall::live {

balance::CallStats& Vitals::calls() const {
    if (auto* const known = calls_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<balance::CallStats>();
    made->appeared_at.set(appeared_at.get());
    balance::CallStats* before = nullptr;
    // Another thread may have been faster.
    if (!calls_.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) {
        return *before;
    }
    return *made.release();
}

}  // namespace rollcall::live

#include "registry/live/holder.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "registry/live/slot.hpp"

namespace rollcall::live {
namespace {

constexpr std::uint64_t nobody = ~std::uint64_t{0};

std::atomic<std::uint64_t> threads = 0;

/// Owns what `thread_state` points to.
class ThreadTable {
public:
    ThreadTable() { thread_state.number = threads.fetch_add(1, std::memory_order_relaxed) + 1; }

    ~ThreadTable() {
        // From here on this thread is a stranger to its own holders. Before the first is retired:
        // with it a value may end that reads.
        thread_state = {.over = true};
        for (auto const& entry : seen_) {
            if (entry.holder != nullptr) entry.holder->retire();
        }
    }

    ThreadTable(ThreadTable const&) = delete;
    ThreadTable& operator=(ThreadTable const&) = delete;

    Seen& at(std::uint32_t slot) {
        if (slot >= seen_.size()) {
            seen_.resize(std::size_t{slot} + 16);
            thread_state.seen = seen_.data();
            thread_state.size = static_cast<std::uint32_t>(seen_.size());
        }
        return seen_[slot];
    }

    /// Forgets what is of cells that are gone. Others would keep their values for as long as this
    /// thread lives.
    void sweep() {
        auto const given_back = slots_given_back();
        if (given_back == swept_) return;
        std::vector<Holder*> dead;
        dead.reserve(seen_.size());
        visit_slots(thread_state.size, [&](std::uint32_t slot, std::uint64_t taken) {
            auto& entry = seen_[slot];
            if (entry.version < taken) dead.push_back(std::exchange(entry, {}).holder);
        });
        swept_ = given_back;
        // Last: with one a value may end that reads, or a cell.
        for (auto* const holder : dead) {
            if (holder != nullptr) holder->retire();
        }
    }

private:
    std::vector<Seen> seen_;
    std::uint64_t swept_ = 0;
};

}  // namespace

constinit thread_local ThreadState thread_state;

Holder* remember(std::uint32_t slot, std::uint64_t version, std::shared_ptr<void const> value) {
    if (thread_state.over) {
        auto* const alone = new Holder{std::move(value), nobody};
        alone->word.store(3, std::memory_order_relaxed);  // Retired, one reference.
        return alone;
    }
    static thread_local ThreadTable table;
    table.sweep();
    auto holder = std::make_unique<Holder>(std::move(value), thread_state.number);
    auto& entry = table.at(slot);
    holder->local = 1;
    entry.version = version;
    auto* const old = std::exchange(entry.holder, holder.release());
    auto* const made = entry.holder;
    // Last: with it a value may end that reads, and makes the table longer.
    if (old != nullptr) old->retire();
    return made;
}

void forget(std::uint32_t slot) noexcept {
    if (slot >= thread_state.size) return;
    auto* const old = std::exchange(thread_state.seen[slot], {}).holder;
    if (old != nullptr) old->retire();
}

}  // namespace rollcall::live

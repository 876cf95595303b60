#include "redis/late_threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <mutex>
#include <unistd.h>
#include <utility>
#include <vector>

namespace rollcall::redis {
namespace {

using Clock = std::chrono::steady_clock;

struct LateThread {
    std::thread thread;
    std::shared_ptr<Event> ended;
    Clock::duration patience;

    /// A thread that ends may leave others behind, so nothing is locked meanwhile.
    void join_within(Clock::duration limit) {
        bool const own = thread.get_id() == std::this_thread::get_id();
        if (!own && ended->wait_for(limit)) {
            thread.join();
        } else {
            thread.detach();
        }
    }
};

// Used after the end of statics, too, so they have no end themselves: this, and what is kept.
constinit std::atomic<bool> too_late = false;

/// Of one process: a forked child has none of its parent's threads, whose mutex may be locked, too.
struct Kept {
    using Threads = std::vector<LateThread>;

    /// Keeps `late` as it was when there is no memory.
    void add(LateThread& late) {
        for (auto& each : take([](auto const& each) { return each.ended->wait_for({}); })) {
            each.join_within({});
        }
        std::lock_guard const lock{mutex};
        if (too_late) return late.thread.detach();
        threads.push_back(std::move(late));
    }

    template <class Condition>
    Threads take(Condition condition) {
        std::lock_guard const lock{mutex};
        auto const first = std::partition(threads.begin(), threads.end(), std::not_fn(condition));
        Threads taken{std::move_iterator{first}, std::move_iterator{threads.end()}};
        threads.erase(first, threads.end());
        return taken;
    }

    pid_t const owner = ::getpid();
    Kept* parents = nullptr;  // Never touched; only no leak.
    std::mutex mutex;
    Threads threads;  // Guarded by the mutex.
};

constinit std::atomic<Kept*> kept = nullptr;

Kept& kept_by_this_process() {
    auto* known = kept.load();
    if (known != nullptr && known->owner == ::getpid()) return *known;
    auto fresh = std::make_unique<Kept>();
    fresh->parents = known;
    return kept.compare_exchange_strong(known, fresh.get()) ? *fresh.release() : *known;
}

struct AtExit {
    ~AtExit() {
        too_late = true;
        auto* const known = kept.load();
        if (known == nullptr || known->owner != ::getpid()) return;
        auto const begun = Clock::now();
        for (auto& late : known->take([](auto const&) { return true; })) {
            auto const rest = begun + late.patience - Clock::now();
            late.join_within(std::max(Clock::duration::zero(), rest));
        }
    }
};

}  // namespace

void expect_late_threads() { static AtExit const at_exit; }

void leave_behind(std::thread thread, std::shared_ptr<Event> ended,
                  std::chrono::milliseconds patience) noexcept {
    LateThread late{std::move(thread), std::move(ended), patience};
    try {
        kept_by_this_process().add(late);
    } catch (...) {
        late.thread.detach();  // Without memory nobody waits for it.
    }
}

}  // namespace rollcall::redis

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace rollcall::redis {

/// Becomes true once. Thread safety: all members.
class Event {
public:
    void set() {
        // Notified under the lock: the waiter may destroy this as soon as it has seen it.
        std::lock_guard const lock{mutex_};
        set_ = true;
        changed_.notify_all();
    }

    void wait() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return set_; });
    }

    bool wait_for(std::chrono::steady_clock::duration limit) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, limit, [this] { return set_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;  // Guarded by the mutex.
};

}  // namespace rollcall::redis

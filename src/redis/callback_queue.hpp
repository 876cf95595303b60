#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include "redis/callback_thread.hpp"

namespace rollcall::redis {

/// What one receiver has not been told yet, in its order. When it is too much, all of it becomes
/// one mark.
///
/// Thread safety: all members.
/// Lifetime: owned by `shared_ptr`. The callback ends when `stop` returns, or when it itself does.
/// In a forked child nothing is called and `stop` does not wait; its owner must not destroy it
/// there, as the parent's threads may have been inside.
template <class Item>
class CallbackQueue : public std::enable_shared_from_this<CallbackQueue<Item>> {
    static_assert(std::is_nothrow_move_constructible_v<Item>);

public:
    using Callback = std::function<void(Item const&)>;
    /// What stands for all that was not told up to `last`. Called under the lock, by `post`.
    using Mark = std::function<Item(Item&& last)>;

    static constexpr std::size_t usual_bound = 10'000;

    CallbackQueue(Callback callback, Mark mark, std::shared_ptr<CallbackThread> thread,
                  std::size_t bound = usual_bound)
        : mark_(std::move(mark)),
          thread_(std::move(thread)),
          bound_(bound),
          callback_(std::move(callback)) {}

    /// Never waits for the callback. Errors: `std::system_error` when the system has no threads
    /// left.
    void post(Item item) {
        std::deque<Item> dropped;  // Ends without the mutex.
        std::lock_guard const lock{mutex_};
        if (stopped_) return;
        if (behind_) {
            items_.back() = mark_(std::move(item));
        } else if (items_.size() < bound_) {
            items_.push_back(std::move(item));
        } else {
            dropped.swap(items_);
            items_.push_back(mark_(std::move(item)));
            behind_ = true;
        }
        schedule();
    }

    /// Returns when the callback does not run and never will again; at once where the thread's
    /// `may_wait` says so, as inside a callback.
    void stop() noexcept {
        if (::getpid() != owner_) return;
        std::deque<Item> dropped;  // Both end without the mutex.
        Callback ended;
        bool const waits = thread_->may_wait();
        std::unique_lock lock{mutex_};
        stopped_ = true;
        dropped.swap(items_);
        if (waits) idle_.wait(lock, [this] { return !calling_; });
        if (!calling_) ended.swap(callback_);
    }

private:
    void schedule() {
        if (scheduled_) return;
        thread_->post([self = this->shared_from_this()] { self->run(); });
        scheduled_ = true;
    }

    /// One item at a time, so that many receivers take turns. What the callback throws is left to
    /// the thread, which logs it.
    void run() {
        std::unique_lock lock{mutex_};
        scheduled_ = false;
        if (items_.empty() || stopped_) return;
        Turn const turn{*this};
        auto const item = std::move(items_.front());
        items_.pop_front();
        behind_ = behind_ && !items_.empty();
        lock.unlock();
        callback_(item);
    }

    class Turn {
    public:
        explicit Turn(CallbackQueue& queue) : queue_(queue) { queue_.calling_ = true; }
        ~Turn() { queue_.end_turn(); }
        Turn(Turn const&) = delete;
        Turn& operator=(Turn const&) = delete;

    private:
        CallbackQueue& queue_;
    };

    bool scheduled_again() noexcept {
        try {
            schedule();
            return true;
        } catch (...) {
            return false;  // No memory.
        }
    }

    void end_turn() noexcept {
        Callback ended;
        std::unique_lock lock{mutex_};
        if (stopped_) {
            ended.swap(callback_);
            lock.unlock();
            ended = nullptr;  // Before `stop` returns to whoever owns what it captured.
            lock.lock();
        } else if (!items_.empty()) {
            static_cast<void>(scheduled_again());  // If not, what is posted next tries again.
        }
        calling_ = false;
        idle_.notify_all();
    }

    Mark const mark_;
    std::shared_ptr<CallbackThread> const thread_;
    std::size_t const bound_;
    pid_t const owner_ = ::getpid();

    std::mutex mutex_;  // Guards what is below.
    std::condition_variable idle_;
    std::deque<Item> items_;
    Callback callback_;    // While `calling_`, without the mutex and left alone.
    bool behind_ = false;  // The last of `items_` is a mark.
    bool scheduled_ = false;
    bool calling_ = false;
    bool stopped_ = false;
};

}  // namespace rollcall::redis

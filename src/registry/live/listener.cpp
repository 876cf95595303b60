#include "registry/live/listener.hpp"

#include <exception>
#include <utility>

namespace rollcall::live {

Listener::Listener(Callback callback, std::shared_ptr<redis::CallbackThread> thread,
                   std::size_t bound)
    : callback_(std::move(callback)), thread_(std::move(thread)), bound_(bound) {}

void Listener::tell(std::span<FeedChange const> changes, Snapshot const& now) {
    std::lock_guard const lock{mutex_};
    if (stopped_ || changes.empty()) return;
    for (auto const& change : changes) add(change, now);
    if (std::exchange(scheduled_, true)) return;
    thread_->post([self = shared_from_this()] { self->run(); });
}

void Listener::add(FeedChange const& change, Snapshot const& now) {
    bool const behind = !items_.empty() && items_.back().change.kind == ChangeKind::resync;
    if (behind) {
        items_.back().now = now;
    } else if (items_.size() < bound_) {
        items_.push_back({change, now});
    } else {
        FeedChange resync;
        resync.kind = ChangeKind::resync;
        items_.clear();
        items_.push_back({std::move(resync), now});
    }
}

/// One item at a time, so that many listeners take turns.
void Listener::run() {
    std::unique_lock lock{mutex_};
    if (!items_.empty() && !stopped_) {
        auto const item = std::move(items_.front());
        items_.pop_front();
        calling_ = true;
        lock.unlock();
        std::exception_ptr thrown;
        try {
            call(item);
        } catch (...) {
            thrown = std::current_exception();
        }
        lock.lock();
        calling_ = false;
        idle_.notify_all();
        if (thrown) thread_->post([thrown] { std::rethrow_exception(thrown); });
    }
    scheduled_ = !items_.empty() && !stopped_;
    if (scheduled_) thread_->post([self = shared_from_this()] { self->run(); });
}

void Listener::call(Item const& item) const {
    Change const change{item.change.kind, item.change.reason, item.change.instance.get(),
                        item.change.previous.get(), item.now};
    callback_(change);
}

void Listener::stop() noexcept {
    std::deque<Item> dropped;  // Ends without the mutex.
    bool const inside = thread_->is_current();
    std::unique_lock lock{mutex_};
    stopped_ = true;
    dropped.swap(items_);
    if (!inside) idle_.wait(lock, [this] { return !calling_; });
}

}  // namespace rollcall::live

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "redis/callback_thread.hpp"
#include "registry/live/service_feed.hpp"

#include "rollcall/change.hpp"
#include "rollcall/snapshot.hpp"

namespace rollcall::live {

/// One who wants to be told of the changes of a service, and what he has not been told yet. When
/// he falls behind, all of it becomes one `resync`.
///
/// Thread safety: all members.
class Listener : public std::enable_shared_from_this<Listener> {
public:
    using Callback = std::function<void(Change const&)>;

    static constexpr std::size_t usual_bound = 10'000;

    Listener(Callback callback, std::shared_ptr<redis::CallbackThread> thread,
             std::size_t bound = usual_bound);

    /// `now` is how the service is after all of them.
    void tell(std::span<FeedChange const> changes, Snapshot const& now);

    /// Returns when the callback does not run and never will again; inside it, at once.
    void stop() noexcept;

private:
    struct Item {
        FeedChange change;
        Snapshot now;
    };

    void add(FeedChange const& change, Snapshot const& now);
    void run();
    void call(Item const& item) const;

    Callback const callback_;
    std::shared_ptr<redis::CallbackThread> const thread_;
    std::size_t const bound_;

    std::mutex mutex_;  // Guards what is below.
    std::condition_variable idle_;
    std::deque<Item> items_;
    bool scheduled_ = false;
    bool calling_ = false;
    bool stopped_ = false;
};

}  // namespace rollcall::live

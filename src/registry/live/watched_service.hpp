#pragma once

#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "balance/plan.hpp"
#include "redis/push_handler.hpp"
#include "registry/live/disk_fallback.hpp"
#include "registry/live/follower.hpp"
#include "registry/live/from_disk.hpp"
#include "registry/live/heard_messages.hpp"
#include "registry/live/listener.hpp"
#include "registry/live/live_context.hpp"
#include "registry/live/service_feed.hpp"
#include "registry/live/snapshot_cell.hpp"

namespace rollcall::live {

class Catalogue;

/// One service that is watched: its feed, with the I/O around it, and what readers see of it.
///
/// Thread safety: `run` and what Redis pushes on the I/O thread, everything else from any thread.
class WatchedService final : public redis::PushHandler,
                             public disk::Source,
                             public std::enable_shared_from_this<WatchedService> {
public:
    /// `catalogue` is what hands messages on; null: it subscribes by itself.
    WatchedService(std::string name, LiveContextPtr context, std::shared_ptr<Catalogue> catalogue,
                   FeedOptions const& options);

    std::string const& name() const noexcept override { return cell_->name(); }
    std::shared_ptr<SnapshotCell> const& cell() const noexcept { return cell_; }

    bool loaded() const noexcept { return loaded_.load(std::memory_order_acquire); }
    /// Loaded, or read from disk for want of Redis.
    bool readable() const noexcept { return readable_.load(std::memory_order_acquire); }
    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
    /// Since when what is on disk may be on its way; the beginning of time where nothing is saved.
    Deadline reads_disk_since() const noexcept { return fallback_ ? begun_ : Deadline::min(); }
    /// False when the time has run out, or the watching has ended.
    bool wait_until_loaded(Deadline deadline) const;
    bool wait_until_readable(Deadline deadline) const;
    /// Since Redis last confirmed the content; none while nothing is to be read.
    std::optional<std::chrono::milliseconds> age() const noexcept;
    bool live() const noexcept { return live_.load(std::memory_order_relaxed); }
    /// Why the last read failed, unless one has been answered since.
    std::optional<Failure> failure() const;

    /// Watches until the coroutine is ended.
    static Task<void> run(std::shared_ptr<WatchedService> self);

    /// Told of what is there now, then of every change.
    void add_listener(std::shared_ptr<Listener> listener);
    void remove_listener(std::shared_ptr<Listener> listener);
    void add_follower(std::shared_ptr<Follower> follower);
    void remove_follower(std::shared_ptr<Follower> follower);

    /// By which handles choose. Those by which somebody does are prepared with every table.
    balance::Plans& plans() noexcept { return plans_; }

    // disk::Source
    std::optional<Mark> mark() const override;
    disk::SavedService capture() const override;

    // What Redis pushes, as of its own subscription or of the catalogue's. On the I/O thread.
    void confirmed(redis::Topic const& topic) override;
    void message(redis::Message const& message) override;
    void unreadable(redis::Topic const& topic, std::string_view channel) override;
    void refused(redis::Topic const& topic, Failure const& why) override;
    void invalidated(std::string_view key) override;
    void lost(std::string_view why) override;

private:
    using Clock = std::chrono::steady_clock;
    using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>,
                                             asio::io_context::executor_type>;

    struct Following {
        std::shared_ptr<Follower> follower;
        bool begun = false;
    };

    Task<void> watch();
    void pass_doubt_on();
    Task<FeedAnswer> answer(FeedRead const& read);
    void tell_unreadable(std::vector<Sighting> const& sightings) const;
    void apply(FeedOutcome const& outcome);
    void show(disk::SavedService const& saved);
    void note_readable(bool loaded);
    std::vector<FeedChange> present() const;
    void publish(FeedOutcome const& outcome);
    void count(FeedOutcome const& outcome, std::size_t before, std::ptrdiff_t suspects);
    void tell_followers(std::vector<HeardMessage> const& messages, FeedOutcome const& outcome);
    void note_state();
    void note_failure(std::optional<Failure> failure);
    void wake() { timer_.cancel(); }
    void begin();
    void end();

    LiveContextPtr const context_;
    std::shared_ptr<redis::ClientCore> const& core_ = context_->core;
    std::shared_ptr<LivePort> const& port_ = context_->port;
    std::shared_ptr<Catalogue> const catalogue_;
    std::shared_ptr<SnapshotCell> const cell_;

    std::chrono::milliseconds const doubt_pause_;
    Deadline const begun_ = Clock::now();

    ServiceFeed feed_;
    InstanceTablePtr table_ = InstanceTable::empty_table();
    std::optional<FromDisk> from_disk_;             // While that is shown.
    std::shared_ptr<DiskFallback> const fallback_;  // Null: nothing is saved.
    std::vector<std::shared_ptr<Listener>> listeners_;
    std::vector<Following> followers_;
    HeardMessages heard_;  // While there are followers.
    balance::Plans plans_;
    Timer timer_;
    std::ptrdiff_t suspects_ = 0;
    bool doubtful_ = false;  // A message could not be read, and the feed does not know yet.
    Clock::time_point doubt_not_before_ = Clock::time_point::min();

    std::atomic<bool> loaded_ = false;
    std::atomic<bool> readable_ = false;
    std::atomic<bool> live_ = false;
    std::atomic<bool> ended_ = false;
    AtomicTime<Clock> confirmed_at_;
    mutable std::mutex mutex_;  // Guards what is below.
    mutable std::condition_variable changed_;
    std::optional<Failure> failure_;
};

}  // namespace rollcall::live

#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "redis/client_core.hpp"
#include "registry/disk/snapshot_store.hpp"

namespace rollcall::live {

/// Has what was saved of a service read from disk, once, if Redis cannot be reached before the
/// service is loaded: when two attempts to connect in a row have failed, when there is no
/// connection after half of what callers wait, or when a read went unanswered. Never because Redis
/// refuses the log-in, and never while it is only slow.
///
/// Thread safety: the I/O thread only, construction aside.
class DiskFallback final : private redis::ConnectionListener,
                           public std::enable_shared_from_this<DiskFallback> {
public:
    using Show = std::function<void(disk::SavedService const&)>;

    /// `core` is there until `end`.
    DiskFallback(redis::ClientCore& core, std::shared_ptr<disk::SnapshotStore> store,
                 std::string service);

    /// From now on; `show` is called at most once, and not after `end`.
    void begin(Show show);
    void read_failed(Failure const& why);
    /// The service is loaded, or watched no more. Idempotent.
    void end();

private:
    using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>,
                                             asio::io_context::executor_type>;
    enum class Phase { idle, waiting, asked, over };

    // redis::ConnectionListener
    void connected() override {}
    void disconnected() override {}
    void attempt_failed() override;

    void look_after(std::chrono::milliseconds pause);
    void ask();
    void answered(disk::SavedService const& saved);

    redis::ClientCore& core_;  // Not shared: its last owner must not be its own thread.
    std::shared_ptr<disk::SnapshotStore> const store_;
    std::string const service_;
    Show show_;
    Timer timer_;
    Phase phase_ = Phase::idle;
};

}  // namespace rollcall::live

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redis/background.hpp"
#include "redis/client_core.hpp"
#include "registry/announce/announcer_loop.hpp"
#include "registry/announce/record.hpp"
#include "registry/announce/shared_patience.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/announcement.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/renewal.hpp"

namespace rollcall::announce {

/// Keeps registered what a process announces in one layout by one client, and renews what it is
/// asked to: one for each pair.
///
/// However much is announced, there is no other thread than the client's and one timer, and one
/// round of heartbeats at a time.
///
/// Thread safety: all members.
/// Lifetime: keeps the client's core and the port alive; announcements keep it alive. Its end waits
/// briefly for the deregistrations that nobody waited for, and cuts short the rest.
class Announcer : public std::enable_shared_from_this<Announcer> {
public:
    /// `heartbeat` is the time between two rounds.
    ///
    /// Errors: `std::invalid_argument` for one that is not shorter than the lease.
    static std::shared_ptr<Announcer> create(std::shared_ptr<redis::ClientCore> core,
                                             std::shared_ptr<LayoutPort> port,
                                             std::chrono::milliseconds heartbeat);
    ~Announcer();
    Announcer(Announcer const&) = delete;
    Announcer& operator=(Announcer const&) = delete;

    /// Returns at once; the instance is registered when Redis can be reached.
    ///
    /// Errors: `std::invalid_argument` for an instance that the layout does not take, and for one
    /// that is announced or renewed already; `errc::closed` in a forked child.
    Announcement announce(ServiceInstance const& instance, AnnounceOptions options);
    /// Returns at once. Errors: as of `announce`, for the names.
    Renewal renew(InstanceId const& id, std::function<void(AnnouncementEvent)> on_event);

    // For announcements and renewals.

    redis::ClientCore& core() const noexcept { return *core_; }
    LayoutPort& port() const noexcept { return *port_; }
    /// `instance` is validated.
    void change(std::shared_ptr<Record> const& record, ServiceInstance instance);
    /// The id may be announced again at once: that waits for the end of this one.
    void release(std::shared_ptr<Record> const& record);
    /// Waits for that, as long as those who end may, altogether; else the end of this does.
    void wait_briefly(std::shared_ptr<Record> const& record);
    /// Of one that is released: tries again at once, and forgets why it failed before.
    void hurry(std::shared_ptr<Record> const& record);

private:
    Announcer(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
              std::chrono::milliseconds heartbeat);

    /// Errors: `std::invalid_argument` for one that is announced or renewed already.
    void claim(InstanceId const& id);
    /// Calls `act(loop)` on the I/O thread, in the order of the calls.
    void post(std::function<void(AnnouncerLoop&)> act);
    void leave(std::shared_ptr<Record> const& record);
    /// Waits for what was left.
    void flush() noexcept;

    std::shared_ptr<redis::ClientCore> const core_;
    std::shared_ptr<LayoutPort> const port_;
    std::shared_ptr<AnnouncerLoop> const loop_;
    std::mutex mutex_;  // Guards what is below.
    std::set<std::pair<std::string, std::string>> names_;
    bool started_ = false;
    SharedPatience patience_;
    std::vector<std::shared_ptr<Record>> unwaited_;
    std::size_t forget_unwaited_at_ = 0;
    redis::Background running_;
};

}  // namespace rollcall::announce

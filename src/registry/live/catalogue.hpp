#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/push_handler.hpp"
#include "registry/live/live_context.hpp"
#include "registry/live/namespace_listener.hpp"

namespace rollcall::live {

class Directory;
class WatchedService;

/// Keeps all services of a namespace watched, and hands on what its one subscription is told of
/// them.
///
/// Names come from the index, which is read after each confirmation and now and then, and from
/// messages about services that were not kept. What no index names and nobody is in is let go.
///
/// Thread safety: `add_listener` and `remove_listener` from any thread, the rest on the I/O thread.
class Catalogue final : private redis::PushHandler, public std::enable_shared_from_this<Catalogue> {
public:
    /// More services than that are not watched, with a warning.
    static constexpr std::size_t most_services = 100'000;

    /// Until `leave_directory`, `directory` is there.
    Catalogue(LiveContextPtr context, Directory& directory);

    /// Watches until the coroutine is ended, and leaves the directory then.
    static Task<void> run(std::shared_ptr<Catalogue> self);
    /// What is still to be done, is done without it.
    void leave_directory() noexcept { directory_ = nullptr; }

    /// From now on `service` is told what concerns it. It leaves before it ends.
    void join(WatchedService& service);
    void leave(WatchedService& service);

    /// Told of the changes of all services, in order for each.
    void add_listener(std::shared_ptr<NamespaceListener> listener);
    void remove_listener(std::shared_ptr<NamespaceListener> listener);

private:
    using Clock = std::chrono::steady_clock;
    using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>,
                                             asio::io_context::executor_type>;

    // redis::PushHandler
    void confirmed(redis::Topic const& topic) override;
    void message(redis::Message const& message) override;
    void unreadable(redis::Topic const& topic, std::string_view channel) override;
    void refused(redis::Topic const& topic, Failure const& why) override;
    void invalidated(std::string_view key) override;
    void lost(std::string_view why) override;

    void begin();
    void end();
    Task<void> watch();
    Task<bool> read_names();
    void keep(std::string const& name);
    void let_go_of_others(std::set<std::string, std::less<>> const& names);
    void look_again();

    LiveContextPtr const context_;
    std::shared_ptr<redis::ClientCore> const& core_ = context_->core;
    std::shared_ptr<LivePort> const& port_ = context_->port;
    Directory* directory_;  // Never shared here: its end waits for what this thread does.

    std::map<std::string, WatchedService*, std::less<>> joined_;
    std::set<std::string, std::less<>> kept_;
    std::set<std::string, std::less<>> spoken_of_;  // Of those, since the last reading began.
    std::vector<std::shared_ptr<NamespaceListener>> listeners_;
    bool connected_ = false;
    bool loaded_ = false;  // The names have been read: who is not among them is new.
    Clock::time_point read_at_ = Clock::time_point::min();  // The next reading of the names.
    Timer timer_;
};

}  // namespace rollcall::live

#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "chaos/connection_watch.hpp"
#include "chaos/held_up.hpp"
#include "support/redis_server.hpp"

namespace rollcall::chaos {

/// A way to a server that breaks on request: a unix socket whose connections end at the server's.
///
/// Thread safety: all members.
class FaultProxy {
public:
    explicit FaultProxy(std::string target);
    ~FaultProxy();
    FaultProxy(FaultProxy const&) = delete;
    FaultProxy& operator=(FaultProxy const&) = delete;

    std::string url() const { return "unix://" + socket_; }

    void cut();                                    ///< Closes all connections, once.
    void set_silent(bool on) { silent_ = on; }     ///< Half-open: nothing passes, nothing closes.
    void set_delay(std::chrono::milliseconds by);  ///< Of each piece, in either direction.

    /// Whether all that were connected once, and live, are connected.
    bool all_connected();
    ConnectionWatch watched();
    std::size_t connections() const noexcept { return connections_; }

private:
    using Clock = std::chrono::steady_clock;
    struct Way {
        int from;
        int to;
        pid_t user;
        bool of_user;  ///< Comes from the user, goes to the server.
        std::deque<std::pair<Clock::time_point, std::string>> under_way = {};
        bool ended = false;
        bool counted = true;                   ///< Its user has not left it yet.
        std::optional<Time> silent_from = {};  ///< Until its user has noticed.
    };

    void run();
    void accept_one();
    void close_all();
    void close_ended();
    void close(std::list<Way>::iterator first);
    void note_who_left();
    void note_silence_of(Way& way);
    void be_silent(bool on);
    void watch_users();
    void take(Way& way);
    void deliver(Way& way);

    test::TemporaryFolder folder_;
    std::string const target_;
    std::string const socket_;
    int const listener_;
    std::atomic<bool> ending_ = false;
    std::atomic<bool> cut_ = false;
    std::atomic<bool> silent_ = false;
    std::atomic<int> delay_ms_ = 0;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex mutex_;
    ConnectionWatch watch_;                        // Under the mutex.
    bool was_silent_ = false;                      // Of the thread.
    std::map<pid_t, WaitingTimes> waited_before_;  // The silence; of the thread.
    std::list<Way> ways_;  // Of the thread; both directions of a connection lie side by side.
    std::thread thread_;
};

}  // namespace rollcall::chaos

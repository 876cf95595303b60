#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "core/log.hpp"

namespace rollcall::redis {

/// The thread on which the callbacks of one client run, in the order in which they were handed
/// over. Made when the first is; all signals are blocked in it.
///
/// Thread safety: all members.
/// Lifetime: its end waits for the callback that runs and drops the others; from inside a callback
/// it does not wait. In a forked child it does nothing.
class CallbackThread {
public:
    explicit CallbackThread(Log log);
    ~CallbackThread();
    /// The same as its end, while others still share it. Not in a forked child.
    void end() noexcept;
    CallbackThread(CallbackThread const&) = delete;
    CallbackThread& operator=(CallbackThread const&) = delete;

    /// What `call` throws is logged. Errors: `std::system_error` when the system has no threads
    /// left.
    void post(std::function<void()> call);

    bool is_current() const noexcept;  ///< Whether this is that thread.

    /// Also not to wait in for a callback, which may itself wait for that thread. Before anything
    /// is posted.
    void never_wait_in(std::thread::id thread) { waited_for_ = thread; }
    /// Whether this thread may wait until a callback has run.
    bool may_wait() const noexcept {
        return std::this_thread::get_id() != waited_for_ && !is_current();
    }

private:
    struct State;
    std::shared_ptr<State> state_;
    std::thread::id waited_for_;
};

}  // namespace rollcall::redis

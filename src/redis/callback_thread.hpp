#pragma once

#include <functional>
#include <memory>

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
    CallbackThread(CallbackThread const&) = delete;
    CallbackThread& operator=(CallbackThread const&) = delete;

    /// What `call` throws is logged. Errors: `std::system_error` when the system has no threads
    /// left.
    void post(std::function<void()> call);

    bool is_current() const noexcept;  ///< Whether this is that thread.

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace rollcall::redis

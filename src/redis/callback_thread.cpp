#include "redis/callback_thread.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include "redis/event.hpp"
#include "redis/late_threads.hpp"
#include "redis/signal_block.hpp"

namespace rollcall::redis {

struct CallbackThread::State {
    explicit State(Log logger) : log(std::move(logger)) {}

    /// Shares the state: the thread may have to outlive its owner.
    static void run(std::shared_ptr<State> const& state) {
        ::pthread_setname_np(::pthread_self(), "rollcall-calls");
        std::unique_lock lock{state->mutex};
        for (;;) {
            state->changed.wait(lock, [&] { return state->ending || !state->calls.empty(); });
            if (state->ending) break;
            auto call = std::move(state->calls.front());
            state->calls.pop_front();
            lock.unlock();
            state->make(call);
            call = nullptr;  // What it holds may call back when it ends.
            lock.lock();
        }
        lock.unlock();
        state->ended.set();
    }

    void make(std::function<void()> const& call) const {
        try {
            call();
        } catch (std::exception const& error) {
            log.write(LogLevel::warning, "callback",
                      std::string{"a callback threw: "} + error.what());
        } catch (...) {
            log.write(LogLevel::warning, "callback", "a callback threw");
        }
    }

    Log const log;
    pid_t const owner = ::getpid();
    std::mutex mutex;  // Guards what is below.
    std::condition_variable changed;
    std::deque<std::function<void()>> calls;
    bool ending = false;
    std::thread thread;
    std::thread::id id;  // Of the thread, also once nobody owns it any more.
    Event ended;         // Not under the mutex.
};

CallbackThread::CallbackThread(Log log) : state_(std::make_shared<State>(std::move(log))) {}

CallbackThread::~CallbackThread() {
    if (::getpid() != state_->owner) {
        // The thread is the parent's, and it may have held the mutex.
        static_cast<void>(std::make_unique<std::shared_ptr<State>>(std::move(state_)).release());
        return;
    }
    end();
}

void CallbackThread::end() noexcept {
    std::thread thread;
    std::deque<std::function<void()>> dropped;  // Ends without the mutex.
    {
        std::lock_guard const lock{state_->mutex};
        state_->ending = true;
        dropped.swap(state_->calls);
        thread = std::move(state_->thread);
        state_->changed.notify_all();
    }
    if (!thread.joinable()) return;
    if (thread.get_id() == std::this_thread::get_id()) {
        leave_behind(std::move(thread), {state_, &state_->ended});
    } else {
        thread.join();
    }
}

void CallbackThread::post(std::function<void()> call) {
    if (::getpid() != state_->owner) return;
    std::lock_guard const lock{state_->mutex};
    if (state_->ending) return;
    if (!state_->thread.joinable()) {
        expect_late_threads();
        SignalBlock const block;
        state_->thread = std::thread{[state = state_] { State::run(state); }};
        state_->id = state_->thread.get_id();
    }
    state_->calls.push_back(std::move(call));
    state_->changed.notify_one();
}

bool CallbackThread::is_current() const noexcept {
    if (::getpid() != state_->owner) return false;
    std::lock_guard const lock{state_->mutex};
    return state_->id == std::this_thread::get_id();
}

}  // namespace rollcall::redis

#include "registry/announce/record.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::announce {

void Record::note_change() {
    std::lock_guard const lock{mutex_};
    ++changes_made_;
}

bool Record::wait_until_written(Deadline deadline) {
    std::unique_lock lock{mutex_};
    return changed_.wait_until(lock, deadline, [this] {
        return released_ || (written_ && changes_taken_ == changes_made_);
    });
}

Result<void> Record::wait_until_released(Deadline deadline, bool briefly) {
    std::unique_lock lock{mutex_};
    while (!released_ && !final_) {
        auto const until = briefly ? std::min(deadline, limit_) : deadline;
        if (std::chrono::steady_clock::now() >= until) break;
        changed_.wait_until(lock, until);
    }
    if (released_) return {};
    if (failure_) return *failure_;
    if (limit_ != Deadline::max()) return Failure{errc::not_connected, "Redis is away"};
    return Failure{errc::timeout, "no answer to the deregistration in time"};
}

bool Record::released() {
    std::lock_guard const lock{mutex_};
    return released_;
}

void Record::expect_answer() {
    std::lock_guard const lock{mutex_};
    failure_.reset();
    final_ = false;
}

void Record::close_hook(bool only_close) {
    std::function<void(AnnouncementEvent)> dropped;  // Ends without the mutex.
    std::unique_lock lock{mutex_};
    hook_closed_ = true;
    if (only_close) return;
    changed_.wait(lock, [this] { return !hook_runs_; });
    dropped.swap(on_event_);
    lock.unlock();
}

void Record::note_change_taken() {
    std::lock_guard const lock{mutex_};
    ++changes_taken_;
}

void Record::note_state(bool registered, bool written) {
    registered_ = registered;
    std::lock_guard const lock{mutex_};
    written_ = written;
    if (written) changed_.notify_all();
}

void Record::note_released() {
    registered_ = false;
    std::lock_guard const lock{mutex_};
    released_ = true;
    changed_.notify_all();
}

void Record::note_failure(Failure failure, bool final) {
    std::lock_guard const lock{mutex_};
    failure_ = std::move(failure);
    final_ = final;
    changed_.notify_all();
}

void Record::wait_no_longer(Deadline moment) {
    std::lock_guard const lock{mutex_};
    limit_ = moment;
    changed_.notify_all();
}

void Record::call_hook(AnnouncementEvent event) {
    {
        std::lock_guard const lock{mutex_};
        if (hook_closed_ || !on_event_) return;
        hook_runs_ = true;
    }
    struct End {
        explicit End(Record& record) : of(record) {}
        ~End() {
            std::lock_guard const lock{of.mutex_};
            of.hook_runs_ = false;
            of.changed_.notify_all();
        }
        End(End const&) = delete;
        End& operator=(End const&) = delete;
        Record& of;
    };
    End const end{*this};
    on_event_(event);
}

}  // namespace rollcall::announce

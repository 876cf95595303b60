#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "registry/announce/announcer_machine.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/announcement.hpp"

namespace rollcall::announce {

/// What the thread of an announcement or a renewal, the I/O thread and the callback thread share of
/// it.
///
/// Thread safety: as said for each part.
class Record {
public:
    Record(InstanceId name, AnnounceOptions options, bool only_renewed = false)
        : id(std::move(name)),
          adopted(only_renewed),
          stay_out(options.stay_out),
          has_hook(options.on_event != nullptr),
          on_event_(std::move(options.on_event)) {}

    InstanceId const id;
    bool const adopted;  ///< Of a renewal.
    bool const stay_out;
    bool const has_hook;
    AnnouncerMachine::Key key = 0;  ///< On the I/O thread only.

    // From any thread.

    bool registered() const noexcept { return registered_; }
    /// A change is on its way to the I/O thread.
    void note_change();
    /// Waits until nothing is left to be written. False: not before the deadline.
    bool wait_until_written(Deadline deadline);
    /// Waits for the deregistration. With `briefly` no longer than `wait_no_longer` says.
    Result<void> wait_until_released(Deadline deadline, bool briefly);
    bool released();
    /// Why it failed before is no answer to who waits from now on.
    void expect_answer();
    /// The hook is called no more. Waits for a call that is going on, however long that takes: its
    /// captures may be gone afterwards. With `only_close` it does not wait.
    void close_hook(bool only_close);

    // On the I/O thread.

    void note_change_taken();
    void note_state(bool registered, bool written);
    void note_released();
    /// Why the deregistration did not work; `final` if it will not soon.
    void note_failure(Failure failure, bool final);
    /// Redis is away: nobody who is in a hurry waits longer than until `moment`. With the latest of
    /// all moments it is there again.
    void wait_no_longer(Deadline moment);

    // On the callback thread.

    void call_hook(AnnouncementEvent event);

private:
    std::atomic<bool> registered_ = false;
    std::mutex mutex_;  // Guards what is below.
    std::condition_variable changed_;
    std::function<void(AnnouncementEvent)> on_event_;  // Not changed before it is closed.
    std::uint64_t changes_made_ = 0;
    std::uint64_t changes_taken_ = 0;
    bool written_ = false;
    bool released_ = false;
    std::optional<Failure> failure_;
    bool final_ = false;
    Deadline limit_ = Deadline::max();
    bool hook_closed_ = false;
    bool hook_runs_ = false;
};

}  // namespace rollcall::announce

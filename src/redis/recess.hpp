#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/deadline.hpp"

namespace rollcall::redis {

/// Lets time pass on threads of the user's, until that is ended for all of them.
///
/// Thread safety: all members.
class Recess {
public:
    /// What is ended after this ends the wait that is begun with it.
    std::uint64_t begin() const {
        std::lock_guard const lock{mutex_};
        return ended_;
    }

    /// Returns at `moment`, or when it was ended.
    void pass(std::uint64_t begun, Deadline moment) const {
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, moment, [&] { return ended_ != begun; });
    }

    void end() noexcept {
        std::lock_guard const lock{mutex_};
        ++ended_;
        changed_.notify_all();
    }

private:
    mutable std::mutex mutex_;  // Guards what is below.
    mutable std::condition_variable changed_;
    std::uint64_t ended_ = 0;  // How often.
};

}  // namespace rollcall::redis

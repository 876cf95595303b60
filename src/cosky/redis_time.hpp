#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "core/deadline.hpp"
#include "redis/client_core.hpp"
#include "registry/redis_clock.hpp"

namespace rollcall::cosky {

/// What Redis' clock shows, without asking it: read now and then in the background.
///
/// Thread safety: all members; `run` on the I/O thread.
class RedisTime {
public:
    explicit RedisTime(std::shared_ptr<redis::ClientCore> core) : core_(std::move(core)) {}

    /// Reads until the coroutine is ended.
    static Task<void> run(std::shared_ptr<RedisTime> self);

    /// Milliseconds since 1970, now. Waits for the first reading; none, if there is none in time.
    std::optional<RedisClock::Time> now(Deadline deadline) const;

private:
    Task<bool> read();

    std::shared_ptr<redis::ClientCore> const core_;
    mutable std::mutex mutex_;  // Guards what is below.
    mutable std::condition_variable changed_;
    RedisClock clock_;
};

}  // namespace rollcall::cosky

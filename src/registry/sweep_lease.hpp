#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/task.hpp"

namespace rollcall {

/// The right to keep house in one prefix or namespace: a key in Redis that one holder has for a
/// short time. It saves double work and decides nothing.
///
/// Thread safety: the I/O thread only, construction aside.
class SweepLease {
public:
    SweepLease(std::shared_ptr<redis::ClientCore> core, std::string key);

    /// Takes or extends it. False: somebody else has it. When Redis refuses to say, true with a
    /// warning in the log.
    Task<Result<bool>> take(std::chrono::milliseconds hold, Deadline deadline);

    /// Gives it up, so that another process need not wait for its end. Asks Redis only if it may be
    /// ours and Redis can be reached now.
    Task<Result<void>> yield(Deadline deadline);

private:
    Task<Result<bool>> ask(std::chrono::milliseconds hold, Deadline deadline);

    std::shared_ptr<redis::ClientCore> core_;
    std::string key_;
    std::string token_;
    bool held_ = false;  // Or perhaps: no answer came.
};

}  // namespace rollcall

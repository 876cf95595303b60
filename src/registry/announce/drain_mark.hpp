#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::announce {

/// Marks by which an operator asks the owner of an instance to take no traffic for a while: our own
/// keys, `<prefix>:rollcall:drained:<service>:<id>`, each with a TTL. Owners that know nothing of
/// rollcall do not see them.
///
/// Names are as they are stored.
/// Thread safety: the I/O thread only. Lifetime: `core` must outlive it.
class DrainMarks {
public:
    DrainMarks(redis::ClientCore& core, LivePort const& port);

    /// For `time`, at least a millisecond, from now on. Cost: one round trip.
    Task<Result<void>> set(InstanceId const& id, std::chrono::milliseconds time, Deadline deadline);
    /// Whether there was one.
    Task<Result<bool>> clear(InstanceId const& id, Deadline deadline);
    /// Whether there is one, for each of `ids`, in order. Where reading is refused, there is none,
    /// with one warning. `ids` must outlive the task. Cost: one command for 500, and one for each
    /// of those 500 if any of them has a mark.
    Task<Result<std::vector<bool>>> read(std::vector<InstanceId> const& ids, Deadline deadline);

    std::string key_of(InstanceId const& id) const;

private:
    Task<Result<std::vector<std::size_t>>> marked_chunks(std::vector<InstanceId> const& ids,
                                                         Deadline deadline);

    redis::ClientCore& core_;
    std::string prefix_;
    bool warned_ = false;
};

}  // namespace rollcall::announce

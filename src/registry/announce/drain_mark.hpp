#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/task.hpp"
#include "registry/announce/drain.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::announce {

/// As a mark says it.
struct DrainMark {
    std::uint64_t number = 0;
    /// By Redis' clock; below zero: it has been over for that long. None: it has no end.
    std::optional<std::chrono::milliseconds> left = {};

    bool over() const { return left && left->count() <= 0; }
    Drain drain() const { return {over() ? Drain::State::over : Drain::State::wanted, number}; }
};

/// Marks by which an operator asks the owner of an instance to take no traffic for a while: our own
/// keys, `<prefix>:rollcall:drained:<service>:<id>`. Owners that know nothing of rollcall do not
/// see them.
///
/// A mark says when the drain ends, and which one it is, and is there for longer: an owner that
/// looks seldom, or was away, finds that there was one, and changes back what the operator changed.
///
/// Names are as they are stored.
/// Thread safety: the I/O thread only. Lifetime: `core` must outlive it.
class DrainMarks {
public:
    DrainMarks(redis::ClientCore& core, LivePort const& port);

    /// A drain from now on, for `time`; zero: one that is over. The last one counts. Cost: two
    /// round trips.
    Task<Result<void>> set(InstanceId const& id, std::chrono::milliseconds time, Deadline deadline);
    /// Without a trace for owners that do not know of it. Whether there was one.
    Task<Result<bool>> clear(InstanceId const& id, Deadline deadline);
    /// That of each of `ids`, in order; none: there is none. Where reading is refused, there is
    /// none, with one warning. `ids` must outlive the task. Cost: one command for 500, and one for
    /// each of those 500 if any of them has a mark.
    using Marks = std::vector<std::optional<DrainMark>>;
    Task<Result<Marks>> read(std::vector<InstanceId> const& ids, Deadline deadline);

    std::string key_of(InstanceId const& id) const;
    /// How long a mark is there after the end of its drain.
    std::chrono::milliseconds afterlife() const { return afterlife_; }

private:
    Result<Marks> refused(Failure const& why, std::size_t count);
    /// What Redis' shows.
    Task<Result<std::chrono::milliseconds>> clock(Deadline deadline);
    Task<Result<std::vector<std::size_t>>> marked_chunks(std::vector<InstanceId> const& ids,
                                                         Deadline deadline);

    redis::ClientCore& core_;
    std::string prefix_;
    std::chrono::milliseconds afterlife_;
    bool warned_ = false;
};

}  // namespace rollcall::announce

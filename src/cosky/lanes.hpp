#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/deadline.hpp"
#include "redis/task.hpp"

#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky {

/// Lets operations on one instance id pass one after the other, in the order in which they came.
///
/// Requests on one connection are not carried out in the order in which they were made: a script
/// that Redis does not know is sent a second time, behind what was sent meanwhile, and so is what a
/// connection that broke left unanswered. Of two writes to one instance the later one must win.
///
/// Thread safety: the I/O thread only.
/// Lifetime: must outlive passes and waiting coroutines.
class Lanes {
    struct Waiter;
    using Map = std::map<NamespacedInstanceId, std::deque<Waiter*>>;

public:
    /// The lane of an id, until its end.
    class Pass {
    public:
        Pass(Pass&& other) noexcept
            : lanes_(std::exchange(other.lanes_, nullptr)), at_(other.at_) {}
        Pass& operator=(Pass&&) = delete;
        ~Pass() {
            if (lanes_) lanes_->leave(at_);
        }

    private:
        friend class Lanes;
        Pass(Lanes& lanes, Map::iterator at) : lanes_(&lanes), at_(at) {}

        Lanes* lanes_;
        Map::iterator at_;
    };

    /// None: somebody has it.
    std::optional<Pass> try_enter(NamespacedInstanceId const& id);
    /// None: whoever has it, or comes first, did not leave it before the deadline.
    Task<std::optional<Pass>> enter(NamespacedInstanceId const& id, Deadline deadline);

private:
    void leave(Map::iterator at) noexcept;

    Map lanes_;  // One for each id that somebody has, with those who wait.
};

}  // namespace rollcall::cosky

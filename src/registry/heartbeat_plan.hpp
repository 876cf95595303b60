#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "registry/layout_port.hpp"

namespace rollcall {

/// A batch of heartbeats on its way to script calls and back to one result for each: in rounds that
/// wait for each other, each of some calls. Does no I/O.
///
/// Thread safety: one thread at a time.
class HeartbeatPlan {
public:
    struct Limits {
        std::size_t ids_in_call = 128;
        bool one_service_a_call = false;
        std::size_t ids_in_round = 16'384;
    };

    /// Ids that go in one call, with their names as they are stored.
    struct Group {
        std::vector<InstanceId> ids = {};
        std::vector<std::size_t> positions = {};  ///< Among all that were asked for.
    };

    /// The names as they are stored; `std::invalid_argument` for bad ones.
    using Validate = std::function<InstanceId(InstanceId const&)>;

    /// `ids` and `log` must outlive the plan. Errors: `std::invalid_argument` for more ids than
    /// `LayoutPort::max_batch`.
    HeartbeatPlan(std::span<InstanceId const> ids, Validate validate, Limits limits,
                  Log const& log);

    /// Groups the next ids; those with bad names fail, with a warning. False: all are done, or no
    /// time is left.
    bool next_round(Deadline deadline);
    std::vector<Group> const& groups() const noexcept { return groups_; }

    /// What became of an id of a group of this round.
    /// For itself alone: where all fail, it is `fail` that says why.
    void tell_refused(Group const& group, std::size_t index);
    void tell(Group const& group, std::size_t index, Liveness liveness);
    /// Nothing is known of some.
    void fail(Failure failure) { failure_ = std::move(failure); }

    /// One for each id; an error only when Redis told of none.
    Result<std::vector<Liveness>> finish() &&;

private:
    void add(std::size_t position);
    Group& group_for(std::string const& service);

    std::span<InstanceId const> ids_;
    Validate validate_;
    Limits limits_;
    Log const& log_;
    std::size_t done_ = 0;
    std::vector<Group> groups_;
    std::map<std::string, std::size_t> open_;  // Group with room, by service if that matters.
    std::vector<Liveness> result_;
    std::optional<Failure> failure_;
    bool any_ = false;  // Something is known of some, or nothing was asked.
};

}  // namespace rollcall

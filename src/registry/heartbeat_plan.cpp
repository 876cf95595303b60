#include "registry/heartbeat_plan.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "core/text.hpp"

namespace rollcall {

HeartbeatPlan::HeartbeatPlan(std::span<InstanceId const> ids, Validate validate, Limits limits,
                             Log const& log)
    : ids_(ids), validate_(std::move(validate)), limits_(limits), log_(log) {
    if (ids.size() > LayoutPort::max_batch) {
        refuse("heartbeat batch", static_cast<long long>(ids.size()),
               "must not be longer than " + std::to_string(LayoutPort::max_batch));
    }
    result_.assign(ids.size(), Liveness::failed);
}

bool HeartbeatPlan::next_round(Deadline deadline) {
    groups_.clear();
    open_.clear();
    if (done_ == ids_.size()) return false;
    if (done_ > 0 && std::chrono::steady_clock::now() >= deadline) {
        fail(Failure{errc::timeout, "no time was left for some heartbeats"});
        return false;
    }
    auto const end = std::min(ids_.size(), done_ + limits_.ids_in_round);
    for (; done_ < end; ++done_) add(done_);
    if (groups_.empty()) any_ = true;
    return true;
}

void HeartbeatPlan::add(std::size_t position) {
    InstanceId names;
    try {
        names = validate_(ids_[position]);
    } catch (std::invalid_argument const& error) {
        log_.write(LogLevel::warning, "heartbeat", error.what());
        return;
    }
    auto& group = group_for(names.service);
    group.ids.push_back(std::move(names));
    group.positions.push_back(position);
}

HeartbeatPlan::Group& HeartbeatPlan::group_for(std::string const& service) {
    auto const [at, fresh] =
        open_.try_emplace(limits_.one_service_a_call ? service : std::string{}, groups_.size());
    if (fresh || groups_[at->second].ids.size() == limits_.ids_in_call) {
        at->second = groups_.size();
        groups_.emplace_back();
    }
    return groups_[at->second];
}

void HeartbeatPlan::tell(Group const& group, std::size_t index, Liveness liveness) {
    any_ = true;
    result_[group.positions[index]] = liveness;
}

void HeartbeatPlan::tell_refused(Group const& group, std::size_t index) {
    result_[group.positions[index]] = Liveness::refused;
}

Result<std::vector<Liveness>> HeartbeatPlan::finish() && {
    if (ids_.empty()) any_ = true;
    if (!any_ && failure_) return *std::move(failure_);
    if (failure_) log_.write(LogLevel::warning, "heartbeat", failure_->detail());
    return std::move(result_);
}

}  // namespace rollcall

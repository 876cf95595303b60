#include "cli/backend.hpp"

#include <algorithm>

#include "redis/client_core.hpp"
#include "registry/announce/drain_mark.hpp"

namespace rollcall::cli {

namespace {

/// The lease ends by itself: nobody should wait long for its end.
constexpr std::chrono::milliseconds longest_yield{500};

Task<Result<bool>> is_connected(redis::Session& session) { co_return session.connected(); }

Task<Result<std::size_t>> left_out_by(LayoutPort const& port) { co_return port.left_out(); }

}  // namespace

Backend::Backend(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port)
    : core_(std::move(core)), port_(std::move(port)) {}

bool Backend::connected() const {
    auto const answer = core_->run([&] { return is_connected(core_->session()); });
    return answer && *answer;
}

Written Backend::register_instance(ServiceInstance const& instance, Deadline deadline) const {
    return core_->run([&] { return port_->register_instance(instance, deadline); }).value();
}

Written Backend::deregister_instance(InstanceId const& id) const {
    return core_->run([&] { return port_->deregister_instance(id, core_->deadline()); }).value();
}

std::vector<Liveness> Backend::heartbeat(std::vector<InstanceId> const& ids) const {
    return core_->run([&] { return port_->heartbeat(ids, core_->deadline()); }).value();
}

std::size_t Backend::left_out() const {
    return core_->run([&] { return left_out_by(*port_); }).value();
}

std::vector<ServiceSummary> Backend::services() const {
    auto found = core_->run([&] { return port_->services(core_->deadline()); }).value();
    std::ranges::sort(found, {}, &ServiceSummary::service);
    return found;
}

std::vector<Found> Backend::instances(Query const& query) const {
    return instances(query, core_->deadline());
}

std::vector<Found> Backend::instances(Query const& query, Deadline deadline) const {
    auto found = core_->run([&] { return port_->instances(query, deadline); }).value();
    std::ranges::sort(found, {},
                      [](Found const& one) -> auto const& { return one.instance.instance_id; });
    return found;
}

Written Backend::set_enabled(InstanceId const& id, bool on) const {
    return core_->run([&] { return port_->set_enabled(id, on, core_->deadline()); }).value();
}

Written Backend::set_weight(InstanceId const& id, int weight) const {
    return core_->run([&] { return port_->set_weight(id, weight, core_->deadline()); }).value();
}

Written Backend::set_metadata(InstanceId const& id, Metadata const& metadata) const {
    return core_->run([&] { return port_->set_metadata(id, metadata, core_->deadline()); }).value();
}

Written Backend::merge_metadata(InstanceId const& id, Metadata const& metadata) const {
    return core_->run([&] { return port_->merge_metadata(id, metadata, core_->deadline()); })
        .value();
}

std::optional<announce::DrainMark> Backend::drain_mark(InstanceId const& id) const {
    announce::DrainMarks marks{*core_, port_->live()};
    std::vector<InstanceId> const stored{port_->validated(id)};
    return core_->run([&] { return marks.read(stored, core_->deadline()); }).value().front();
}

void Backend::mark_drained(InstanceId const& id, std::chrono::milliseconds time) const {
    announce::DrainMarks marks{*core_, port_->live()};
    auto const stored = port_->validated(id);
    core_->run([&] { return marks.set(stored, time, core_->deadline()); }).value();
}

void Backend::unmark_drained(InstanceId const& id) const {
    announce::DrainMarks marks{*core_, port_->live()};
    auto const stored = port_->validated(id);
    core_->run([&] { return marks.clear(stored, core_->deadline()); }).value();
}

SweepReport Backend::sweep() const {
    return core_->run([&] { return port_->sweep(core_->deadline()); }).value();
}

void Backend::yield_sweeping() const {
    auto const deadline = std::min(core_->deadline(), after(longest_yield));
    (void)core_->run([&] { return port_->yield_sweeping(deadline); });
}

std::vector<Finding> Backend::examine(bool fix) const {
    return core_->run([&] { return port_->examine(fix, core_->deadline()); }).value();
}

}  // namespace rollcall::cli

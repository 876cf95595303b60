#include "registry/announce/announcer.hpp"

#include <boost/asio/post.hpp>
#include <stdexcept>

#include "core/text.hpp"
#include "registry/announce/announcement_state.hpp"
#include "registry/announce/renewal_state.hpp"

#include "rollcall/error.hpp"

namespace rollcall::announce {
namespace {

void refuse_in_child(redis::ClientCore const& core) {
    if (core.closed()) throw Error{errc::closed, "this process was forked from the client's"};
}

}  // namespace

std::shared_ptr<Announcer> Announcer::create(std::shared_ptr<redis::ClientCore> core,
                                             std::shared_ptr<LayoutPort> port,
                                             std::chrono::milliseconds heartbeat) {
    auto const lease = port->live().lease();
    if (heartbeat < std::chrono::milliseconds{1} || heartbeat >= lease) {
        refuse(
            "heartbeat", std::to_string(heartbeat.count()) + " ms",
            "must be from 1 ms to less than the lease of " + std::to_string(lease.count()) + " ms");
    }
    return std::shared_ptr<Announcer>{new Announcer{std::move(core), std::move(port), heartbeat}};
}

Announcer::Announcer(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
                     std::chrono::milliseconds heartbeat)
    : core_(std::move(core)),
      port_(std::move(port)),
      loop_(std::make_shared<AnnouncerLoop>(core_, port_, heartbeat)) {}

Announcer::~Announcer() {
    // Not under the mutex, for this waits; and nobody else has this any more.
    running_.stop();
}

Announcement Announcer::announce(ServiceInstance const& instance, AnnounceOptions options) {
    refuse_in_child(*core_);
    auto state = std::make_unique<AnnouncementState>();
    state->announcer = shared_from_this();
    state->wanted = port_->validated(instance);
    auto const& wanted = state->wanted;
    state->record = std::make_shared<Record>(InstanceId{wanted.service_name, wanted.instance_id},
                                             std::move(options));
    claim(state->record->id);
    post([record = state->record, wanted](AnnouncerLoop& loop) { loop.add(record, wanted); });
    return Announcement{std::move(state)};
}

Renewal Announcer::renew(InstanceId const& id, std::function<void(AnnouncementEvent)> on_event) {
    refuse_in_child(*core_);
    AnnounceOptions options;
    options.on_event = std::move(on_event);
    auto state = std::make_unique<RenewalState>();
    state->announcer = shared_from_this();
    state->record = std::make_shared<Record>(port_->validated(id), std::move(options), true);
    ServiceInstance named;
    named.service_name = state->record->id.service;
    named.instance_id = state->record->id.id;
    claim(state->record->id);
    post([record = state->record, named](AnnouncerLoop& loop) { loop.add(record, named); });
    return Renewal{std::move(state)};
}

void Announcer::claim(InstanceId const& id) {
    std::lock_guard const lock{mutex_};
    if (!names_.emplace(id.service, id.id).second) {
        throw std::invalid_argument{"instance id \"" + id.id + "\" of service \"" + id.service +
                                    "\": is announced or renewed already"};
    }
    if (std::exchange(started_, true)) return;
    running_ = core_->spawn([loop = loop_] { return AnnouncerLoop::run(loop); });
}

void Announcer::change(std::shared_ptr<Record> const& record, ServiceInstance instance) {
    record->note_change();
    post([record, instance = std::move(instance)](AnnouncerLoop& loop) {
        loop.change(*record, instance);
    });
}

void Announcer::release(std::shared_ptr<Record> const& record) {
    {
        std::lock_guard const lock{mutex_};
        names_.erase({record->id.service, record->id.id});
    }
    post([record](AnnouncerLoop& loop) { loop.release(*record); });
}

void Announcer::post(std::function<void(AnnouncerLoop&)> act) {
    asio::post(core_->io(), [loop = loop_, act = std::move(act)] { act(*loop); });
}

}  // namespace rollcall::announce

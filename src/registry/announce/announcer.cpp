#include "registry/announce/announcer.hpp"

#include <boost/asio/post.hpp>
#include <stdexcept>

#include "core/text.hpp"
#include "registry/announce/announcement_state.hpp"

#include "rollcall/error.hpp"

namespace rollcall::announce {

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
    if (core_->closed()) throw Error{errc::closed, "this process was forked from the client's"};
    auto state = std::make_unique<AnnouncementState>();
    state->announcer = shared_from_this();
    state->wanted = port_->validated(instance);
    auto const& wanted = state->wanted;
    state->record = std::make_shared<Record>(InstanceId{wanted.service_name, wanted.instance_id},
                                             std::move(options));
    {
        std::lock_guard const lock{mutex_};
        if (!names_.emplace(wanted.service_name, wanted.instance_id).second) {
            throw std::invalid_argument{"instance id \"" + wanted.instance_id + "\" of service \"" +
                                        wanted.service_name + "\": is announced already"};
        }
        start();
    }
    post([record = state->record, wanted](AnnouncerLoop& loop) { loop.add(record, wanted); });
    return Announcement{std::move(state)};
}

void Announcer::start() {
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

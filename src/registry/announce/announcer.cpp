#include "registry/announce/announcer.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <stdexcept>

#include "core/checks.hpp"
#include "core/deadline.hpp"
#include "core/text.hpp"
#include "registry/announce/announcement_state.hpp"
#include "registry/announce/renewal_state.hpp"

#include "rollcall/error.hpp"

namespace rollcall::announce {
namespace {

/// How long all that end one after another may wait.
constexpr std::chrono::seconds patience{1};

/// So many are kept at least before those that are gone are left out.
constexpr std::size_t least_unwaited = 64;

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
      loop_(std::make_shared<AnnouncerLoop>(core_, port_, heartbeat)),
      patience_(patience) {}

Announcer::~Announcer() {
    // Not under the mutex, for this waits; and nobody else has this any more.
    flush();
    running_.stop();
}

void Announcer::flush() noexcept {
    if (unwaited_.empty() || core_->closed() || core_->on_io_thread()) return;
    auto const deadline = after(patience_.rest(std::chrono::steady_clock::now()));
    try {
        for (auto const& record : unwaited_) (void)record->wait_until_released(deadline, true);
    } catch (...) {
        core_->log().write(LogLevel::error, "announced",
                           "no memory to wait for deregistrations: their leases end what is left");
    }
}

Announcement Announcer::announce(ServiceInstance const& instance, AnnounceOptions options) {
    refuse_in_child(*core_);
    auto state = std::make_unique<AnnouncementState>();
    state->announcer = shared_from_this();
    state->wanted = port_->validated(instance);
    check_callable(state->wanted);
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

void Announcer::wait_briefly(std::shared_ptr<Record> const& record) {
    if (core_->on_io_thread()) return;
    auto const begun = std::chrono::steady_clock::now();
    std::unique_lock lock{mutex_};
    auto const share = patience_.share(begun);
    if (share == std::chrono::steady_clock::duration::zero()) return leave(record);
    lock.unlock();
    (void)record->wait_until_released(begun + share, true);
    lock.lock();
    patience_.use(std::chrono::steady_clock::now() - begun);
}

void Announcer::leave(std::shared_ptr<Record> const& record) {
    if (unwaited_.size() >= forget_unwaited_at_) {
        std::erase_if(unwaited_, [](auto const& each) { return each->released(); });
        forget_unwaited_at_ = std::max(least_unwaited, 2 * unwaited_.size());
    }
    unwaited_.push_back(record);
}

void Announcer::hurry(std::shared_ptr<Record> const& record) {
    record->expect_answer();
    post([record](AnnouncerLoop& loop) { loop.hurry(*record); });
}

void Announcer::post(std::function<void(AnnouncerLoop&)> act) {
    asio::post(core_->io(), [loop = loop_, act = std::move(act)] { act(*loop); });
}

}  // namespace rollcall::announce

#include "streaming/service_subscriptions.hpp"

#include <stdexcept>

#include "streaming/streaming_port.hpp"

namespace rollcall::streaming {
namespace {

std::shared_ptr<LivePort> make_live_port(std::shared_ptr<redis::ClientCore> core,
                                         std::string const& prefix,
                                         std::chrono::milliseconds lease) {
    StreamingPortOptions options;
    options.prefix = prefix;
    options.lease = lease;
    std::shared_ptr<LayoutPort> const port = make_streaming_port(std::move(core), options);
    return {port, &port->live()};
}

}  // namespace

ServiceSubscriptions::ServiceSubscriptions(std::shared_ptr<redis::ClientCore> core,
                                           ServiceConsumerConfig const& config)
    : core_(std::move(core)),
      prefix_(RegistryKeys{config.key_prefix}.prefix()),
      lease_(config.heartbeat_timeout) {}

void ServiceSubscriptions::open() {
    if (core_->closed()) return;  // Another thread may have held the mutex at the fork.
    std::lock_guard const lock{mutex_};
    open_ = true;
}

void ServiceSubscriptions::close() noexcept {
    if (core_->closed()) return;
    Entries ending;
    {
        std::lock_guard const lock{mutex_};
        open_ = false;
        ending = entries_;
    }
    for (auto const& [key, subscription] : ending) end(key, subscription);
}

std::shared_ptr<live::Directory> const& ServiceSubscriptions::directory() {
    if (!directory_) {
        live::DirectoryOptions options;
        options.unused_for = std::chrono::milliseconds{0};
        directory_ = std::make_shared<live::Directory>(
            core_, make_live_port(core_, prefix_, lease_), options);
    }
    return directory_;
}

std::shared_ptr<ServiceSubscriptions::Subscription> ServiceSubscriptions::make(
    std::string const& service, std::shared_ptr<ServiceChangeListener> listener) {
    auto subscription = std::make_shared<Subscription>();
    subscription->teller = std::make_shared<ChangeTeller>(service, std::move(listener),
                                                          core_->log(), core_->callbacks());
    subscription->use = directory()->use(service);
    return subscription;
}

void ServiceSubscriptions::add(std::string const& service,
                               std::shared_ptr<ServiceChangeListener> listener) {
    if (core_->closed()) throw_exception_from_error(redis::was_forked(), {});
    std::shared_ptr<Subscription> ended;  // Its end may wait.
    std::shared_ptr<ChangeTeller> teller;
    {
        std::lock_guard const lock{mutex_};
        if (!open_) throw std::logic_error{"the service consumer is not running"};
        Key const key{service, listener.get()};
        auto const known = entries_.find(key);
        if (known != entries_.end() && !known->second->teller->stopped()) {
            teller = known->second->teller;
        } else {
            auto const made = make(service, std::move(listener));
            ended = std::exchange(entries_[key], made);
            teller = made->teller;
            made->use->service().add_follower(teller);
        }
    }
    if (!core_->on_io_thread()) teller->wait_until_begun(core_->deadline());
}

void ServiceSubscriptions::remove(std::string const& service,
                                  ServiceChangeListener const* listener) noexcept {
    if (core_->closed()) return;
    Key const key{service, listener};
    std::shared_ptr<Subscription> found;
    {
        std::lock_guard const lock{mutex_};
        auto const entry = entries_.find(key);
        if (entry == entries_.end()) return;
        found = entry->second;
    }
    end(key, found);
}

std::map<std::string, Snapshot> ServiceSubscriptions::snapshots() const {
    std::map<std::string, Snapshot> all;
    if (core_->closed()) return all;  // Another thread may have held the mutex at the fork.
    std::lock_guard const lock{mutex_};
    for (auto const& [key, subscription] : entries_) {
        if (all.contains(key.first)) continue;
        auto const watched = directory_->find(key.first);
        if (watched && watched->loaded()) all.emplace(key.first, watched->cell()->snapshot());
    }
    return all;
}

/// It stays known until it has stopped, so that all who end it wait for that. The I/O thread cannot
/// wait, as the call that runs may be waiting for it.
void ServiceSubscriptions::end(Key const& key,
                               std::shared_ptr<Subscription> const& subscription) noexcept {
    if (core_->on_io_thread()) {
        subscription->teller->stop_soon();
    } else {
        subscription->teller->stop();
    }
    subscription->use->service().remove_follower(subscription->teller);
    Entries::node_type ended;  // Its end may wait.
    std::lock_guard const lock{mutex_};
    auto const entry = entries_.find(key);
    if (entry == entries_.end() || entry->second != subscription) return;
    ended = entries_.extract(entry);
}

}  // namespace rollcall::streaming

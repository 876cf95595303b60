#include "registry/live/catalogue.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "registry/live/directory.hpp"
#include "registry/live/subscribing.hpp"
#include "registry/live/watched_service.hpp"

namespace rollcall::live {
namespace {

using std::chrono::seconds;

// Between two readings of the names without a reason, and after one that failed.
constexpr seconds usual_pause{60};
constexpr seconds retry_pause{1};

}  // namespace

Catalogue::Catalogue(LiveContextPtr context, Directory& directory)
    : context_(std::move(context)), directory_(&directory), timer_(core_->io().get_executor()) {}

Task<void> Catalogue::run(std::shared_ptr<Catalogue> self) {
    struct Guard {
        Catalogue& catalogue;
        ~Guard() { catalogue.end(); }
    } const guard{*self};
    self->begin();
    co_await self->watch();
}

void Catalogue::begin() { subscribe(*context_, *this, port_->channel_of_all()); }

void Catalogue::end() {
    core_->subscriber().detach(*this);
    leave_directory();
}

Task<void> Catalogue::watch() {
    for (;;) {
        if (read_at_ <= Clock::now()) {
            read_at_ = Clock::now() + usual_pause;
            bool const read = co_await read_names();
            if (!read) read_at_ = std::min(read_at_, Clock::now() + retry_pause);
            continue;
        }
        timer_.expires_at(read_at_);
        co_await timer_.async_wait(asio::as_tuple(use_task));
        auto const state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return;
    }
}

Task<bool> Catalogue::read_names() {
    spoken_of_.clear();
    auto const found = co_await port_->services(core_->deadline());
    if (found.has_error()) {
        if (found.error().code() != errc::cancelled) {
            core_->log().write(LogLevel::warning, "watch",
                               "the services could not be read: " + found.error().detail());
        }
        co_return false;
    }
    std::set<std::string, std::less<>> const names{found->begin(), found->end()};
    for (auto const& name : names) keep(name);
    let_go_of_others(names);
    loaded_ = true;
    co_return true;
}

void Catalogue::keep(std::string const& name) {
    if (kept_.contains(name)) return;
    if (directory_ == nullptr) return;
    if (kept_.size() >= most_services) {
        core_->log().write(
            LogLevel::warning, "watch",
            "more than " + std::to_string(most_services) + " services: the others are not watched");
        return;
    }
    directory_->keep(name);
    kept_.insert(name);
    auto const service = directory_->find(name);
    for (auto const& listener : listeners_) listener->attach(*service, loaded_);
}

/// Of services that no index names and that nobody is in. Who was spoken of while the names were
/// read may have come after they were.
void Catalogue::let_go_of_others(std::set<std::string, std::less<>> const& names) {
    if (directory_ == nullptr) return;
    std::erase_if(kept_, [&](std::string const& name) {
        if (names.contains(name) || spoken_of_.contains(name)) return false;
        auto const service = directory_->find(name);
        if (service && (!service->loaded() || !service->cell()->snapshot().empty())) return false;
        if (service) {
            for (auto const& listener : listeners_) listener->detach(*service);
        }
        directory_->let_go(name);
        return true;
    });
}

void Catalogue::join(WatchedService& service) {
    joined_.insert_or_assign(service.name(), &service);
    if (connected_) service.confirmed({});
}

void Catalogue::leave(WatchedService& service) {
    auto const found = joined_.find(service.name());
    if (found != joined_.end() && found->second == &service) joined_.erase(found);
}

void Catalogue::add_listener(std::shared_ptr<NamespaceListener> listener) {
    asio::post(core_->io(), [self = shared_from_this(), listener = std::move(listener)] {
        self->listeners_.push_back(listener);
        if (self->directory_ == nullptr) return;
        for (auto const& name : self->kept_) {
            if (auto const service = self->directory_->find(name))
                listener->attach(*service, false);
        }
    });
}

void Catalogue::remove_listener(std::shared_ptr<NamespaceListener> listener) {
    asio::post(core_->io(), [self = shared_from_this(), listener = std::move(listener)] {
        std::erase(self->listeners_, listener);
        if (self->directory_ == nullptr) return;
        for (auto const& name : self->kept_) {
            if (auto const service = self->directory_->find(name)) listener->detach(*service);
        }
    });
}

void Catalogue::look_again() {
    read_at_ = Clock::time_point::min();
    timer_.cancel();
}

void Catalogue::confirmed(redis::Topic const& topic) {
    connected_ = true;
    for (auto const& [name, service] : joined_) service->confirmed(topic);
    look_again();
}

void Catalogue::message(redis::Message const& message) {
    auto const name = port_->service_of(message.channel);
    if (!name) return;
    // Also one that is joined: it may be watched for others, or for a while yet.
    keep(*name);
    if (kept_.contains(*name)) spoken_of_.insert(*name);
    auto const found = joined_.find(*name);
    if (found != joined_.end()) found->second->message(message);
}

void Catalogue::unreadable(redis::Topic const& topic, std::string_view channel) {
    auto const name = port_->service_of(channel);
    auto const found = name ? joined_.find(*name) : joined_.end();
    if (found != joined_.end()) return found->second->unreadable(topic, channel);
    if (!channel.empty()) return;
    for (auto const& [other, service] : joined_) service->unreadable(topic, channel);
}

void Catalogue::refused(redis::Topic const& topic, Failure const& why) {
    core_->log().write(LogLevel::warning, "subscribe-refused",
                       "changes are noticed late, as Redis lets nobody listen to " + topic.name +
                           ": " + why.detail());
}

void Catalogue::invalidated(std::string_view key) {
    for (auto const& [name, service] : joined_) service->invalidated(key);
    look_again();
}

void Catalogue::lost(std::string_view why) {
    connected_ = false;
    for (auto const& [name, service] : joined_) service->lost(why);
}

}  // namespace rollcall::live

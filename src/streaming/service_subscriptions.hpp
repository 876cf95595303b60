#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "redis/client_core.hpp"
#include "registry/live/directory.hpp"
#include "streaming/change_teller.hpp"

#include "rollcall/snapshot.hpp"
#include "rollcall/streaming/config.hpp"

namespace rollcall::streaming {

/// Which listeners a consumer has at which services, with the watching that they stand on.
///
/// Thread safety: all members, inside listeners, too.
/// Lifetime: closed by its owner. In a forked child nothing is waited for.
class ServiceSubscriptions {
public:
    ServiceSubscriptions(std::shared_ptr<redis::ClientCore> core,
                         ServiceConsumerConfig const& config);
    ServiceSubscriptions(ServiceSubscriptions const&) = delete;
    ServiceSubscriptions& operator=(ServiceSubscriptions const&) = delete;

    void open();
    /// Ends all of them, and refuses others.
    void close() noexcept;

    /// Of a service by its stored name. Returns when it has begun, at the latest after the request
    /// timeout. Errors: `std::logic_error` unless open; `errc::closed` in a forked child.
    void add(std::string const& service, std::shared_ptr<ServiceChangeListener> listener);
    void remove(std::string const& service, ServiceChangeListener const* listener) noexcept;

    /// As they are, of all services that are subscribed and loaded.
    std::map<std::string, Snapshot> snapshots() const;

private:
    using Key = std::pair<std::string, ServiceChangeListener const*>;
    struct Subscription {
        std::shared_ptr<live::Directory::Use> use;
        std::shared_ptr<ChangeTeller> teller;
    };
    using Entries = std::map<Key, std::shared_ptr<Subscription>>;

    std::shared_ptr<live::Directory> const& directory();
    std::shared_ptr<Subscription> make(std::string const& service,
                                       std::shared_ptr<ServiceChangeListener> listener);
    void end(Key const& key, std::shared_ptr<Subscription> const& subscription) noexcept;

    std::shared_ptr<redis::ClientCore> const core_;
    std::string const prefix_;
    std::chrono::milliseconds const lease_;

    mutable std::mutex
        mutex_;  // Guards what is below. Nothing is ended or waited for while it is held.
    bool open_ = false;
    std::shared_ptr<live::Directory> directory_;  // Null until there is a subscription.
    Entries entries_;
};

}  // namespace rollcall::streaming

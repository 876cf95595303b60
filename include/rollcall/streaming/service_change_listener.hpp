#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/instance.hpp"
#include "rollcall/snapshot.hpp"
#include "rollcall/streaming/service_change_event.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Instances of one service at one moment, ordered by id: what a listener is shown besides the one
/// that changed.
///
/// Cost: that of a `Snapshot`, nothing is copied; `size()` and `empty()` look at one after the
/// other. Thread safety, lifetime: as of `Snapshot`. For a vector: `{list.begin(), list.end()}`.
class InstanceList {
public:
    class const_iterator;

    InstanceList() noexcept = default;
    /// Those of `snapshot` that are enabled and healthy.
    explicit InstanceList(Snapshot snapshot) noexcept : shown_(std::move(snapshot)) {}
    /// Those of `instances` that are enabled and healthy: for tests of listeners.
    explicit InstanceList(std::vector<ServiceInstance> const& instances);

    const_iterator begin() const noexcept;
    const_iterator end() const noexcept;

    bool empty() const noexcept;
    std::size_t size() const noexcept;

    /// The instance with this id; null when it is not in this list.
    ServiceInstance const* find(std::string_view instance_id) const noexcept;

private:
    static bool lists(ServiceInstance const& instance) noexcept {
        return instance.enabled && instance.healthy;
    }

    Snapshot shown_;
};

/// Forward, over `ServiceInstance const`.
class InstanceList::const_iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = ServiceInstance;
    using difference_type = std::ptrdiff_t;
    using pointer = ServiceInstance const*;
    using reference = ServiceInstance const&;

    const_iterator() noexcept = default;

    reference operator*() const noexcept { return *at_; }
    pointer operator->() const noexcept { return &*at_; }
    const_iterator& operator++() noexcept {
        ++at_;
        pass_unlisted();
        return *this;
    }
    const_iterator operator++(int) noexcept {
        auto const before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const_iterator const& left, const_iterator const& right) noexcept {
        return left.at_ == right.at_;
    }

private:
    friend class InstanceList;

    explicit const_iterator(Snapshot::const_iterator at) noexcept : at_(at) { pass_unlisted(); }
    void pass_unlisted() noexcept {
        while (at_ != Snapshot::const_iterator{} && !lists(*at_)) ++at_;
    }

    Snapshot::const_iterator at_;
};

inline InstanceList::const_iterator InstanceList::begin() const noexcept {
    return const_iterator{shown_.begin()};
}
inline InstanceList::const_iterator InstanceList::end() const noexcept { return {}; }
inline bool InstanceList::empty() const noexcept { return begin() == end(); }
inline std::size_t InstanceList::size() const noexcept {
    return static_cast<std::size_t>(std::distance(begin(), end()));
}

/// Told of the changes of services. Source: seed 000, "Interface Design", "Change Notification".
///
/// Called on the client's callback thread, one call at a time, for each subscription in order. What
/// it throws is logged and ends nothing; while it sleeps, other listeners of the client wait, and
/// nothing else does. It may subscribe, unsubscribe, stop and destroy the consumer.
///
/// - `current`: at the start, once for each instance that is enabled and healthy, in the order of
///   `ServiceConsumer`'s lists.
/// - `added`, `updated`: such a message came, or without one the instance is new or other than
///   before, as messages are lost with a connection. `instance` is what is stored; if nothing is,
///   what the message describes; if that is nothing either, this is not told.
/// - `removed`: it has left. Such a message came and it is not stored any more, or it expired, or
///   it is proven to be gone. `instance` is what the message describes, else what was last known;
///   null if neither is known.
///
/// One registration may be told twice, as `current` or `added` and once more as `added`, when its
/// message comes while the service is read. A message that removes an instance which is there is
/// not told, nor is an instance that Redis may have lost removed before its owner had time to come
/// back. Messages are hints from whoever may publish, and cross Redis' database numbers: whom to
/// call is in `instances`.
///
/// Who falls more than 10,000 changes behind is told instead of them: `removed` of each that has
/// left, then `current`, as at the start, of each that is there.
class ServiceChangeListener {
public:
    virtual ~ServiceChangeListener() = default;

    /// `instances` are the enabled and healthy ones, as of this change and maybe later ones; the
    /// instance itself is among them if it is one. `service_name` is the name as stored.
    ///
    /// Lifetime: what `service_name` and `instance` refer to is valid during the call; a copy of
    /// `instances` may be kept.
    virtual void on_service_change(std::string_view service_name, ServiceChangeAction action,
                                   ServiceInstance const* instance,
                                   InstanceList const& instances) = 0;
};

using ServiceChangeCall =
    std::function<void(std::string_view service_name, ServiceChangeAction action,
                       ServiceInstance const* instance, InstanceList const& instances)>;

/// A listener that makes this call, for all actions or for these only. Errors:
/// `std::invalid_argument` for no call and for no actions.
std::shared_ptr<ServiceChangeListener> make_service_change_listener(ServiceChangeCall call);
std::shared_ptr<ServiceChangeListener> make_service_change_listener(
    ServiceChangeCall call, std::vector<ServiceChangeAction> actions);

}  // namespace rollcall::streaming

#pragma GCC visibility pop

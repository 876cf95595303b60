#include "streaming/change_teller.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace rollcall::streaming {
namespace {

using Heartbeat = std::chrono::system_clock::time_point;

struct Dated {
    Heartbeat at;
    ServiceInstance const* instance;

    bool operator<(Dated const& other) const {
        return std::tie(at, instance->instance_id) <
               std::tie(other.at, other.instance->instance_id);
    }
};

/// In the order of the layout's lists: by last heartbeat, then id.
std::vector<Dated> in_order(InstanceList const& list, Snapshot const& now) {
    std::vector<Dated> result;
    for (auto const& instance : list) {
        auto const state = now.state(instance.instance_id);
        auto const at = state ? state->last_heartbeat_at : std::nullopt;
        result.push_back({at.value_or(Heartbeat::min()), &instance});
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace

/// What is done on the callback thread. It alone keeps the listener, so that nothing of that is
/// left when the queue has stopped.
class ChangeTeller::Telling {
public:
    Telling(std::string service, std::shared_ptr<ServiceChangeListener> listener, Log log,
            std::shared_ptr<std::atomic<bool>> stopped)
        : service_(std::move(service)),
          listener_(std::move(listener)),
          log_(std::move(log)),
          stopped_(std::move(stopped)) {}

    void operator()(Item const& item) {
        if (item.everything) return tell_everything(item.now);
        if (item.now.revision() != told_.revision()) {
            before_ = std::exchange(told_, item.now);
        }
        call(item.action, item.instance.get(), InstanceList{item.now});
    }

private:
    /// Of what was published together only a part may have been told: hence two snapshots.
    void tell_everything(Snapshot const& now) {
        InstanceList const list{now};
        for (auto const& instance : told_) {
            if (!now.find(instance.instance_id)) call_removed(instance, list);
        }
        for (auto const& instance : before_) {
            auto const& id = instance.instance_id;
            if (!told_.find(id) && !now.find(id)) call_removed(instance, list);
        }
        before_ = {};
        told_ = now;
        for (auto const& one : in_order(list, now)) {
            call(ServiceChangeAction::current, one.instance, list);
        }
    }

    void call_removed(ServiceInstance const& instance, InstanceList const& list) {
        call(ServiceChangeAction::removed, &instance, list);
    }

    void call(ServiceChangeAction action, ServiceInstance const* instance,
              InstanceList const& list) const {
        if (*stopped_) return;
        try {
            listener_->on_service_change(service_, action, instance, list);
        } catch (std::exception const& error) {
            complain(error.what());
        } catch (...) {
            complain("something that is no exception");
        }
    }

    void complain(std::string_view what) const {
        log_.write(LogLevel::warning, "callback",
                   "a listener of " + service_ + " threw: " + std::string{what});
    }

    std::string const service_;
    std::shared_ptr<ServiceChangeListener> const listener_;
    Log const log_;
    std::shared_ptr<std::atomic<bool>> const stopped_;
    Snapshot told_;    // What the last item showed.
    Snapshot before_;  // The one before that, with another content.
};

/// What a read changed, without what a message told.
class ChangeTeller::Unexplained {
public:
    explicit Unexplained(std::span<FeedChange const> changes) : changes_(changes) {}

    /// What became of the instance; null: nothing.
    FeedChange const* find(std::string_view id) {
        if (by_id_.empty()) {
            for (auto const& change : changes_) by_id_.emplace(change.id, &change);
        }
        auto const found = by_id_.find(id);
        return found == by_id_.end() ? nullptr : found->second;
    }
    void explain(std::string_view id) { by_id_[id] = nullptr; }
    bool is_explained(FeedChange const& change) const {
        auto const found = by_id_.find(change.id);
        return found != by_id_.end() && found->second == nullptr;
    }

private:
    std::span<FeedChange const> changes_;
    std::map<std::string_view, FeedChange const*> by_id_;
};

ChangeTeller::ChangeTeller(std::string service, std::shared_ptr<ServiceChangeListener> listener,
                           Log log, std::shared_ptr<redis::CallbackThread> thread)
    : stopped_(std::make_shared<std::atomic<bool>>(false)),
      thread_(std::move(thread)),
      queue_(std::make_shared<redis::CallbackQueue<Item>>(
          [telling = std::make_shared<Telling>(std::move(service), std::move(listener),
                                               std::move(log), stopped_)](Item const& item) {
              (*telling)(item);
          },
          [](Item&& last) { return Item{true, last.action, {}, std::move(last.now)}; }, thread_)) {}

void ChangeTeller::begin(Snapshot const& now) {
    queue_->post({true, ServiceChangeAction::current, {}, now});
    std::lock_guard const lock{mutex_};
    begun_ = true;
    changed_.notify_all();
}

void ChangeTeller::wait_until_begun(Deadline deadline) const {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, deadline, [this] { return begun_ || stopped(); });
}

void ChangeTeller::stop() noexcept {
    note_stop();
    queue_->stop();
}

void ChangeTeller::stop_soon() noexcept {
    note_stop();
    try {
        thread_->post([queue = queue_] { queue->stop(); });  // Inside of calls it does not wait.
    } catch (...) {
        return;  // No thread, so that no call runs; the listener is let go of with us.
    }
}

void ChangeTeller::note_stop() noexcept {
    *stopped_ = true;
    std::lock_guard const lock{mutex_};
    changed_.notify_all();
}

void ChangeTeller::tell(ServiceChangeAction action, Description instance, Snapshot const& now) {
    queue_->post({false, action, std::move(instance), now});
}

void ChangeTeller::settle(std::span<live::HeardMessage const> messages,
                          std::span<FeedChange const> changes, Snapshot const& now) {
    Unexplained unexplained{changes};
    for (auto const& message : messages) tell_message(message, unexplained, now);
    for (auto const& change : changes) {
        if (unexplained.is_explained(change)) continue;
        if (change.kind == ChangeKind::removed) {
            tell(ServiceChangeAction::removed, change.instance, now);
        } else if (change.kind == ChangeKind::added) {
            tell(ServiceChangeAction::added, change.instance, now);
        } else if (change.kind == ChangeKind::updated && *change.instance != *change.previous) {
            tell(ServiceChangeAction::updated, change.instance, now);
        }
    }
}

void ChangeTeller::tell_message(live::HeardMessage const& message, Unexplained& changes,
                                Snapshot const& now) {
    auto const event = std::static_pointer_cast<ServiceChangeEvent const>(message.event);
    bool const said_removed = event->action == ServiceChangeAction::removed;
    auto const* const stored = now.find(message.id);
    if (said_removed && stored) return;  // It is back, or was never meant.

    auto const* const change = changes.find(message.id);
    Description instance;
    if (stored) {
        instance = {Description{}, stored};  // The snapshot keeps it.
    } else if (event->instance && !event->instance->host.empty()) {
        instance = {event, &*event->instance};
    } else if (change) {
        instance = change->instance;
    }
    if (!instance && !said_removed) return;
    tell(event->action, std::move(instance), now);
    if (change && said_removed == (change->kind == ChangeKind::removed)) {
        changes.explain(message.id);
    }
}

}  // namespace rollcall::streaming

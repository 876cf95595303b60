#include "registry/live/namespace_listener.hpp"

#include <utility>

#include "registry/live/watched_service.hpp"

namespace rollcall::live {

NamespaceListener::NamespaceListener(Callback callback,
                                     std::shared_ptr<redis::CallbackThread> thread)
    : callback_(std::make_shared<Callback const>(std::move(callback))),
      thread_(std::move(thread)) {}

void NamespaceListener::attach(WatchedService& service, bool is_new) {
    std::lock_guard const lock{mutex_};
    auto& place = listeners_[service.name()];
    if (stopped_ || place) return;
    auto tell = [call = callback_, name = service.name(), is_new](Change const& change) {
        auto const kind =
            is_new && change.kind == ChangeKind::current ? ChangeKind::added : change.kind;
        (*call)(name, {kind, change.reason, change.instance, change.previous, change.now});
    };
    place = std::make_shared<Listener>(std::move(tell), thread_);
    service.add_listener(place);
}

void NamespaceListener::detach(WatchedService& service) {
    std::lock_guard const lock{mutex_};
    auto const found = listeners_.find(service.name());
    if (found == listeners_.end()) return;
    service.remove_listener(found->second);
    listeners_.erase(found);
}

void NamespaceListener::stop() noexcept {
    decltype(listeners_) ending;
    {
        std::lock_guard const lock{mutex_};
        stopped_ = true;
        ending.swap(listeners_);
    }
    for (auto const& [name, listener] : ending) listener->stop();
}

}  // namespace rollcall::live

#include "registry/live/listener.hpp"

#include <utility>

namespace rollcall::live {

Listener::Listener(Callback callback, std::shared_ptr<redis::CallbackThread> thread)
    : queue_(std::make_shared<redis::CallbackQueue<Item>>(
          [call = std::move(callback)](Item const& item) {
              auto const& [change, now] = item;
              call({change.kind, change.reason, change.instance.get(), change.previous.get(), now});
          },
          [](Item&& last) {
              FeedChange resync;
              resync.kind = ChangeKind::resync;
              return Item{std::move(resync), std::move(last.now)};
          },
          std::move(thread))) {}

void Listener::tell(std::span<FeedChange const> changes, Snapshot const& now) {
    for (auto const& change : changes) queue_->post({change, now});
}

}  // namespace rollcall::live

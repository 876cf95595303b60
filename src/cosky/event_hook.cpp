#include "cosky/event_hook.hpp"

#include <utility>

#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky {

std::shared_ptr<EventHook::Queue> EventHook::make_queue(
    std::function<void(InstanceChangedEvent const&)> hook,
    std::shared_ptr<redis::CallbackThread> thread) {
    auto mark = [](InstanceChangedEvent&& last) {
        InstanceChangedEvent resync;
        resync.ns = std::move(last.ns);
        return resync;
    };
    return std::make_shared<Queue>(std::move(hook), std::move(mark), std::move(thread));
}

EventHook::EventHook(std::shared_ptr<Queue> queue, std::string ns, std::string service)
    : queue_(std::move(queue)), ns_(std::move(ns)), service_(std::move(service)) {}

void EventHook::settle(std::span<live::HeardMessage const> messages, std::span<FeedChange const>,
                       Snapshot const&) {
    for (auto const& message : messages) {
        InstanceChangedEvent event;
        event.event = *static_cast<InstanceEvent const*>(message.event.get());
        event.ns = ns_;
        event.service_name = service_;
        event.instance_id = message.id;
        if (auto parts = parse_instance_id(message.id)) event.instance = *std::move(parts);
        queue_->post(std::move(event));
    }
}

}  // namespace rollcall::cosky

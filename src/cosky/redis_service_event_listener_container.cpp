#include <stdexcept>
#include <utility>

#include "cosky/event_streams.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_event_listener_container.hpp"

namespace rollcall::cosky {
namespace {

class ServiceStream final : public ListenedStream<ServiceChangedEvent> {
public:
    using ListenedStream::ListenedStream;

    void message(redis::Message const&) override { tell_changed(); }
    void unreadable(redis::Topic const&, std::string_view) override { tell_changed(); }

private:
    void tell_changed() {
        auto event = resync();
        event.event = ServiceEvent::changed;
        tell(std::move(event));
    }
};

}  // namespace

struct RedisServiceEventListenerContainer::Impl {
    explicit Impl(std::shared_ptr<redis::ClientCore> client) : core(std::move(client)) {}

    std::shared_ptr<redis::ClientCore> const core;
    std::shared_ptr<EventStreams> const streams = std::make_shared<EventStreams>(core);
};

RedisServiceEventListenerContainer::RedisServiceEventListenerContainer(Client const& client)
    : impl_(std::make_shared<Impl>(client.core())) {}

RedisServiceEventListenerContainer::~RedisServiceEventListenerContainer() = default;

EventSubscription RedisServiceEventListenerContainer::receive(std::string_view ns,
                                                              ServiceEventListener listener) {
    validate_stored_name("namespace", ns);
    if (!listener) throw std::invalid_argument{"listener: must not be empty"};
    redis::Topic topic;
    topic.name = DiscoveryKeyGenerator::service_idx_key(ns);
    ServiceChangedEvent resync;
    resync.ns = ns;
    return impl_->streams->add(std::make_shared<ServiceStream>(
        impl_->core, std::move(topic), std::move(resync), std::move(listener)));
}

void RedisServiceEventListenerContainer::close() noexcept { impl_->streams->close(); }

}  // namespace rollcall::cosky

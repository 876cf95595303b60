#include <atomic>
#include <utility>

#include "core/text.hpp"
#include "cosky/event_streams.hpp"
#include "cosky/instance_event_scope.hpp"
#include "cosky/topology_edge.hpp"

#include "rollcall/cosky/instance_event_listener_container.hpp"

namespace rollcall::cosky {
namespace {

using Skipped = std::shared_ptr<std::atomic<std::uint64_t>>;

class InstanceStream final : public ListenedStream<InstanceChangedEvent> {
public:
    InstanceStream(std::shared_ptr<redis::ClientCore> client, InstanceEventScope scope,
                   InstanceEventListener listener, Skipped skipped,
                   std::shared_ptr<ServiceTopology> topology)
        : ListenedStream(std::move(client), scope.topic(), scope.resync(), std::move(listener)),
          scope_(std::move(scope)),
          skipped_(std::move(skipped)),
          edge_(std::make_shared<TopologyEdge>(std::move(topology), scope_.ns, scope_.service,
                                               core().log())) {}

    void confirmed(redis::Topic const& topic) override {
        edge_->record_on(*core().callbacks());
        ListenedStream::confirmed(topic);
    }

    void message(redis::Message const& message) override {
        auto event = scope_.read(message.channel, message.payload);
        if (event.has_error()) {
            skip(event.error().detail());
        } else if (*event) {
            tell(**std::move(event));
        }
    }

    /// A right to `ns:svc_itc:*` is one to subscribe to that very pattern, and to none within it.
    void refused(redis::Topic const& topic, Failure const& why) override {
        auto all = scope_;
        all.service.clear();
        auto const wider = all.topic();
        if (why.code() != errc::access_denied || topic == wider) return;
        auto& subscriber = core().subscriber();
        redis::Topic const narrow{topic.name, true};  // The given one ends.
        subscriber.unsubscribe(*this, narrow);
        auto const done = subscriber.subscribe(*this, wider);
        core().log().write(LogLevel::info, "wider subscription",
                           joined({"subscribes to ", shown(wider.name), " instead of ",
                                   shown(narrow.name), done ? "" : ": too many subscriptions"}));
    }

    void unreadable(redis::Topic const&, std::string_view channel) override {
        if (scope_.concerns(channel))
            skip(joined({"a message on ", shown(channel), ": too large, or no text"}));
    }

private:
    void skip(std::string_view why) {
        ++*skipped_;
        core().log().write(LogLevel::warning, "skipped message", joined({"skipped ", why}));
    }

    InstanceEventScope const scope_;
    Skipped const skipped_;
    std::shared_ptr<TopologyEdge> const edge_;
};

}  // namespace

struct RedisInstanceEventListenerContainer::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, std::shared_ptr<ServiceTopology> uses)
        : core(std::move(client)), topology(std::move(uses)) {}

    EventSubscription receive(std::string_view ns, std::string_view service,
                              InstanceEventListener listener) const {
        validate_stored_name("namespace", ns);
        if (!listener) throw std::invalid_argument{"listener: must not be empty"};
        InstanceEventScope scope;
        scope.ns = ns;
        scope.service = service;
        return streams->add(std::make_shared<InstanceStream>(
            core, std::move(scope), std::move(listener), skipped, topology));
    }

    std::shared_ptr<redis::ClientCore> const core;
    std::shared_ptr<ServiceTopology> const topology;
    Skipped const skipped = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::shared_ptr<EventStreams> const streams = std::make_shared<EventStreams>(core);
};

RedisInstanceEventListenerContainer::RedisInstanceEventListenerContainer(Client const& client)
    : RedisInstanceEventListenerContainer(client, std::make_shared<RedisServiceTopology>(client)) {}

RedisInstanceEventListenerContainer::RedisInstanceEventListenerContainer(
    Client const& client, std::shared_ptr<ServiceTopology> topology)
    : impl_(std::make_shared<Impl>(client.core(), std::move(topology))) {}

RedisInstanceEventListenerContainer::~RedisInstanceEventListenerContainer() = default;

EventSubscription RedisInstanceEventListenerContainer::receive(std::string_view ns,
                                                               std::string_view service,
                                                               InstanceEventListener listener) {
    validate_stored_name("service name", service);
    return impl_->receive(ns, service, std::move(listener));
}

EventSubscription RedisInstanceEventListenerContainer::receive(std::string_view ns,
                                                               InstanceEventListener listener) {
    return impl_->receive(ns, {}, std::move(listener));
}

void RedisInstanceEventListenerContainer::close() noexcept { impl_->streams->close(); }

std::uint64_t RedisInstanceEventListenerContainer::skipped() const noexcept {
    return *impl_->skipped;
}

}  // namespace rollcall::cosky

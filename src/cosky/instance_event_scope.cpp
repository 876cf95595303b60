#include "cosky/instance_event_scope.hpp"

#include <utility>

#include "core/text.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"

namespace rollcall::cosky {
namespace {

/// What follows the name of a service, which may hold an `@` where a peer stored it.
std::optional<InstanceIdParts> parts_of(std::string_view service, std::string_view id) {
    auto const at = id.substr(service.size());
    auto parts = parse_instance_id(joined({"s", at}));
    if (parts) parts->service_name = service;
    return parts;
}

Failure nothing(std::string_view channel, std::string_view why) {
    return {errc::unexpected_reply, joined({"a message on ", shown(channel), ": ", why})};
}

}  // namespace

redis::Topic InstanceEventScope::topic() const {
    if (service.empty()) return {DiscoveryKeyGenerator::instance_key_pattern(ns), true};
    return {DiscoveryKeyGenerator::instance_key_pattern(ns, service), true};
}

InstanceChangedEvent InstanceEventScope::resync() const {
    InstanceChangedEvent event;
    event.ns = ns;
    event.service_name = service;
    return event;
}

bool InstanceEventScope::concerns(std::string_view channel) const {
    auto const id = DiscoveryKeyGenerator::instance_id_of_key(ns, channel);
    if (!id) return false;
    // The pattern of `a` also matches the ids of a service that is called `a@b`.
    return service.empty() || (id->starts_with(service) && id->rfind('@') == service.size());
}

Result<std::optional<InstanceChangedEvent>> InstanceEventScope::read(
    std::string_view channel, std::string_view payload) const {
    if (!concerns(channel)) return std::nullopt;
    auto const id = DiscoveryKeyGenerator::instance_id_of_key(ns, channel);
    auto const parts = service.empty() ? parse_instance_id(*id) : parts_of(service, *id);
    if (!parts) return nothing(channel, "no instance id");
    auto const what = parse_instance_event(payload);
    if (!what) return nothing(channel, "unknown payload " + shown(payload));
    InstanceChangedEvent event;
    event.event = *what;
    event.ns = ns;
    event.service_name = parts->service_name;
    event.instance_id = *id;
    event.instance = *parts;
    return std::optional{std::move(event)};
}

}  // namespace rollcall::cosky

#include "rollcall/cosky/instance_changed_event.hpp"

#include <array>
#include <utility>

#include "core/protocol_table.hpp"

namespace rollcall::cosky {
namespace {

constexpr std::array<std::pair<InstanceEvent, std::string_view>, 5> payloads{{
    {InstanceEvent::registered, "register"},
    {InstanceEvent::deregistered, "deregister"},
    {InstanceEvent::expired, "expired"},
    {InstanceEvent::renewed, "renew"},
    {InstanceEvent::metadata_set, "set_metadata"},
}};

}  // namespace

std::string_view to_payload(InstanceEvent event) noexcept {
    for (auto const& [known, payload] : payloads) {
        if (known == event) return payload;
    }
    return {};
}

std::optional<InstanceEvent> parse_instance_event(std::string_view payload) noexcept {
    for (auto const& [event, known] : payloads) {
        if (equal_ignoring_case(known, payload)) return event;
    }
    return std::nullopt;
}

}  // namespace rollcall::cosky

#include "rollcall/streaming/service_change_event.hpp"

#include <array>
#include <cstddef>

#include "core/protocol_table.hpp"
#include "streaming/event_text.hpp"
#include "streaming/json_text.hpp"

namespace rollcall::streaming {
namespace {

struct Row {
    ServiceChangeAction action;
    std::string_view value;
    std::string_view wire_name;
};

constexpr std::array rows{
    Row{ServiceChangeAction::added, "added", "ADDED"},
    Row{ServiceChangeAction::removed, "removed", "REMOVED"},
    Row{ServiceChangeAction::updated, "updated", "UPDATED"},
    Row{ServiceChangeAction::current, "current", "CURRENT"},
    Row{ServiceChangeAction::health_recovery, "health_recovery", "HEALTH_RECOVERY"},
    Row{ServiceChangeAction::health_failure, "health_failure", "HEALTH_FAILURE"},
};

Row const& row_of(ServiceChangeAction action) noexcept {
    return rows[static_cast<std::size_t>(action)];
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
    append_json_name(out, name);
    append_json_string(out, value, Astral::escaped);
}

void append_member(std::string& out, std::string_view name, bool value) {
    append_json_name(out, name);
    out += value ? "true" : "false";
}

void append_member(std::string& out, std::string_view name, int value) {
    append_json_name(out, name);
    out += std::to_string(value);
}

void append_metadata(std::string& out, Metadata const& metadata) {
    append_json_name(out, "metadata");
    out += R"({"@class":"java.util.HashMap")";
    for (auto const& [key, value] : metadata) {
        // Readers would take it for the type of the map.
        if (key == "@class") continue;
        out += ',';
        append_json_string(out, key, Astral::escaped);
        out += ':';
        append_json_string(out, value, Astral::escaped);
    }
    out += '}';
}

/// Members in alphabetical order, as Jackson is told to write them.
void append_snapshot(std::string& out, std::string_view service_name, std::string_view instance_id,
                     ServiceInstance const& instance) {
    out +=
        R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent$InstanceSnapshot")";
    append_member(out, "enabled", instance.enabled);
    append_member(out, "healthy", instance.healthy);
    if (!instance.host.empty()) append_member(out, "host", instance.host);
    append_member(out, "instanceId", instance_id);
    append_metadata(out, instance.metadata);
    append_member(out, "port", effective_port(instance.scheme, instance.port));
    append_member(out, "protocol", instance.scheme);
    append_member(out, "serviceName", service_name);
    append_member(out, "weight", instance.weight);
    out += '}';
}

}  // namespace

std::string_view value(ServiceChangeAction action) noexcept { return row_of(action).value; }
std::string_view wire_name(ServiceChangeAction action) noexcept { return row_of(action).wire_name; }

std::optional<ServiceChangeAction> service_change_action(std::string_view value) noexcept {
    for (auto const& row : rows) {
        if (equal_ignoring_case(row.value, value)) return row.action;
    }
    return std::nullopt;
}

std::string event_tail(std::string_view service_name, std::string_view instance_id,
                       ServiceInstance const* instance) {
    std::string out = "\"";
    if (instance) {
        append_json_name(out, "instance");
        append_snapshot(out, service_name, instance_id, *instance);
    }
    append_member(out, "instanceId", instance_id);
    append_member(out, "serviceName", service_name);
    append_json_name(out, "timestamp");
    return out;
}

std::string to_message(ServiceChangeEvent const& event) {
    std::string out{event_head};
    out += wire_name(event.action);
    out += event_tail(event.service_name, event.instance_id,
                      event.instance ? &*event.instance : nullptr);
    out += std::to_string(event.timestamp.count());
    out += event_end;
    return out;
}

}  // namespace rollcall::streaming

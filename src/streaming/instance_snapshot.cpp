#include "streaming/instance_snapshot.hpp"

#include <vector>

#include "streaming/java_text.hpp"
#include "streaming/json_map.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

/// The times are not part of an announcement: a malformed one must not hide the rest.
bool is_time(std::string_view field) noexcept {
    return field == "registrationTime" || field == "lastHeartbeatTime";
}

}  // namespace

std::optional<ServiceInstance> parse_snapshot(std::string_view service_name,
                                              std::string_view instance_id, std::string_view json) {
    auto const members = read_json_map(json);
    if (!members) return std::nullopt;
    auto const host = members->find("host");
    if (host == members->end() || host->second.empty()) return std::nullopt;

    std::vector<InstanceEntryCodec::Field> fields;
    fields.reserve(members->size() + 1);
    bool has_port = false;
    for (auto const& [name, value] : *members) {
        bool const number = name == "port" || name == "weight";
        if (is_time(name) || (number && !parse_java_int(value))) continue;
        has_port = has_port || name == "port";
        fields.emplace_back(name, value);
    }
    if (!has_port) fields.emplace_back("port", "0");
    auto stored = InstanceEntryCodec::parse_instance(service_name, instance_id, fields);
    if (!stored) return std::nullopt;
    return std::move(stored->instance);
}

}  // namespace rollcall::streaming

#include "streaming/instance_snapshot.hpp"

#include <vector>

#include "core/java_text.hpp"

namespace rollcall::streaming {
namespace {

/// Whether a strict reader takes the field; the times are no part of an announcement.
bool is_usable(InstanceEntryCodec::Field const& field) noexcept {
    auto const& [name, value] = field;
    if (name == "registrationTime" || name == "lastHeartbeatTime") return false;
    if (name == "host") return !value.empty();
    return (name != "port" && name != "weight") || parse_java_int(value);
}

}  // namespace

std::optional<ServiceInstance> parse_snapshot(std::string_view service_name,
                                              std::string_view instance_id,
                                              std::span<InstanceEntryCodec::Field const> fields) {
    // A later field of the same name counts: this port is the default.
    std::vector<InstanceEntryCodec::Field> usable{{"port", "0"}};
    usable.reserve(fields.size() + 1);
    for (auto const& field : fields) {
        if (is_usable(field)) usable.push_back(field);
    }
    auto stored = InstanceEntryCodec::parse_instance(service_name, instance_id, usable);
    if (!stored) return std::nullopt;
    return std::move(stored->instance);
}

}  // namespace rollcall::streaming

#include "rollcall/streaming/instance_entry_codec.hpp"

#include <chrono>
#include <cstdint>

#include "core/java_text.hpp"
#include "core/text.hpp"
#include "streaming/json_map.hpp"
#include "streaming/json_text.hpp"

#include "rollcall/protocol.hpp"
#include "rollcall/streaming/protocol.hpp"

namespace rollcall::streaming {
namespace {

using Field = InstanceEntryCodec::Field;
using SystemTime = std::chrono::system_clock::time_point;

constexpr std::string_view legacy_prefix = "metadata_";

/// The texts of the fields that make an instance; null pointers where there is no such field.
struct Texts {
    std::string_view const* host = nullptr;
    std::string_view const* port = nullptr;
    std::string_view const* protocol = nullptr;
    std::string_view const* enabled = nullptr;
    std::string_view const* healthy = nullptr;
    std::string_view const* ephemeral = nullptr;
    std::string_view const* weight = nullptr;
    std::string_view const* registration_time = nullptr;
    std::string_view const* last_heartbeat_time = nullptr;
    std::string_view const* metadata = nullptr;
};

/// Where the text of the field `name` goes; null for fields that say nothing of an instance.
std::string_view const** place(Texts& texts, std::string_view name) noexcept {
    switch (name.size()) {
        case 4:
            if (name == "host") return &texts.host;
            if (name == "port") return &texts.port;
            break;
        case 6:
            if (name == "weight") return &texts.weight;
            break;
        case 7:
            if (name == "enabled") return &texts.enabled;
            if (name == "healthy") return &texts.healthy;
            break;
        case 8:
            if (name == "metadata") return &texts.metadata;
            if (name == "protocol") return &texts.protocol;
            break;
        case 9:
            if (name == "ephemeral") return &texts.ephemeral;
            break;
        case 16:
            if (name == "registrationTime") return &texts.registration_time;
            break;
        case 17:
            if (name == "lastHeartbeatTime") return &texts.last_heartbeat_time;
            break;
        default:
            break;
    }
    return nullptr;
}

Texts sort(std::span<Field const> fields) noexcept {
    Texts texts;
    for (auto const& [name, value] : fields) {
        if (auto** const text = place(texts, name)) *text = &value;
    }
    return texts;
}

bool flag(std::string_view const* text) noexcept { return !text || parse_java_bool(*text); }

/// A stored time; one beyond the clock's range becomes the end of that range.
SystemTime time_of(std::int64_t epoch_milliseconds) noexcept {
    using std::chrono::milliseconds;
    constexpr auto lowest = std::chrono::ceil<milliseconds>(SystemTime::min()).time_since_epoch();
    constexpr auto highest = std::chrono::floor<milliseconds>(SystemTime::max()).time_since_epoch();
    milliseconds const since_epoch{epoch_milliseconds};
    if (since_epoch <= lowest) return SystemTime::min();
    if (since_epoch >= highest) return SystemTime::max();
    return SystemTime{since_epoch};
}

/// False for a malformed time; a missing one is none.
bool read_time(std::string_view const* text, std::optional<SystemTime>& time) noexcept {
    if (!text) return true;
    auto const value = parse_java_long(*text);
    if (value) time = time_of(*value);
    return value.has_value();
}

Metadata legacy_metadata(std::span<Field const> fields) {
    Metadata metadata;
    for (auto const& [name, value] : fields) {
        if (!name.starts_with(legacy_prefix)) continue;
        metadata.insert_or_assign(to_utf8(name.substr(legacy_prefix.size())), to_utf8(value));
    }
    return metadata;
}

Metadata read_metadata(std::string_view const* text, std::span<Field const> fields) {
    if (text && text->empty()) return {};
    if (text) {
        if (auto metadata = read_json_map(*text)) return std::move(*metadata);
    }
    return legacy_metadata(fields);
}

}  // namespace

std::string InstanceEntryCodec::build_instance_data(ServiceInstance const& instance) {
    auto const flag_text = [](bool on) { return on ? "true" : "false"; };
    std::string out = "{";
    append_json_name(out, "host");
    if (instance.host.empty()) {
        out += "null";
    } else {
        append_json_string(out, instance.host);
    }
    append_json_name(out, "port");
    out += std::to_string(effective_port(instance.scheme, instance.port));
    append_json_name(out, "protocol");
    append_json_string(out, instance.scheme);
    append_json_name(out, "enabled");
    out += flag_text(instance.enabled);
    append_json_name(out, "healthy");
    out += flag_text(instance.healthy);
    append_json_name(out, "weight");
    out += std::to_string(instance.weight);
    append_json_name(out, "ephemeral");
    out += flag_text(instance.ephemeral);
    append_json_name(out, "metadata");
    append_json_object(out, instance.metadata);
    out += '}';
    return out;
}

std::string InstanceEntryCodec::metadata_json(Metadata const& metadata) {
    std::string out;
    append_json_object(out, metadata);
    return out;
}

std::optional<StoredInstance> InstanceEntryCodec::parse_instance(std::string_view service_name,
                                                                 std::string_view instance_id,
                                                                 std::span<Field const> fields) {
    auto const texts = sort(fields);
    if (!texts.host || !texts.port) return std::nullopt;
    auto const port = parse_java_int(*texts.port);
    auto const weight = texts.weight ? parse_java_int(*texts.weight) : 1;
    if (!port || !weight) return std::nullopt;

    std::optional<StoredInstance> result{std::in_place};
    auto& [instance, state] = *result;
    if (!read_time(texts.registration_time, state.registered_at) ||
        !read_time(texts.last_heartbeat_time, state.last_heartbeat_at)) {
        return std::nullopt;
    }
    auto const& protocol = resolve_protocol(texts.protocol ? *texts.protocol : "");
    instance.service_name = service_name;
    instance.instance_id = instance_id;
    instance.scheme = protocol.name;
    instance.host = to_utf8(*texts.host);
    instance.port = *port > 0 ? *port : protocol.default_port;
    instance.weight = *weight;
    instance.ephemeral = flag(texts.ephemeral);
    instance.enabled = flag(texts.enabled);
    instance.healthy = flag(texts.healthy);
    instance.metadata = read_metadata(texts.metadata, fields);
    return result;
}

}  // namespace rollcall::streaming

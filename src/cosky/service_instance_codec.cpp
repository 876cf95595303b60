#include "rollcall/cosky/service_instance_codec.hpp"

#include <utility>

#include "core/java_text.hpp"
#include "core/text.hpp"

#include "rollcall/protocol.hpp"

namespace rollcall::cosky {
namespace {

using Field = ServiceInstanceCodec::Field;

constexpr char metadata_prefix = '_';

/// The texts of the fields that make an instance; null pointers where there is no such field.
struct Texts {
    std::string_view const* instance_id = nullptr;
    std::string_view const* service = nullptr;
    std::string_view const* scheme = nullptr;
    std::string_view const* host = nullptr;
    std::string_view const* port = nullptr;
    std::string_view const* weight = nullptr;
    std::string_view const* ephemeral = nullptr;
    std::string_view const* ttl_at = nullptr;
};

/// Where the text of the field `name` goes; null for fields that say nothing of an instance.
std::string_view const** place(Texts& texts, std::string_view name) noexcept {
    switch (name.size()) {
        case 4:
            if (name == "host") return &texts.host;
            if (name == "port") return &texts.port;
            break;
        case 6:
            if (name == "schema") return &texts.scheme;
            if (name == "weight") return &texts.weight;
            if (name == "ttl_at") return &texts.ttl_at;
            break;
        case 9:
            if (name == "serviceId") return &texts.service;
            if (name == "ephemeral") return &texts.ephemeral;
            break;
        case 10:
            if (name == "instanceId") return &texts.instance_id;
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

bool describes(Texts const& texts) noexcept {
    return texts.instance_id && texts.service && texts.scheme && texts.host && texts.port &&
           texts.weight && texts.ephemeral;
}

Metadata read_metadata(std::span<Field const> fields) {
    Metadata metadata;
    for (auto const& [name, value] : fields) {
        if (auto const key = ServiceInstanceCodec::decode_metadata_key(name)) {
            metadata.insert_or_assign(to_utf8(*key), to_utf8(value));
        }
    }
    return metadata;
}

/// No part of the description: a text that is no number counts as none.
std::int64_t read_ttl_at(std::string_view const* text, bool ephemeral) noexcept {
    auto const number = text ? parse_java_long(*text) : std::nullopt;
    return number.value_or(ephemeral ? 0 : TTL_AT_FOREVER);
}

/// An IPv6 address, as far as a registry must know: no name and no IPv4 address has two colons.
bool is_bare_ipv6(std::string_view host) noexcept {
    auto const colon = host.find(':');
    return colon != std::string_view::npos && host.find(':', colon + 1) != std::string_view::npos &&
           host.find_first_of("[]") == std::string_view::npos;
}

}  // namespace

bool is_expired(DiscoveredInstance const& found, std::int64_t now) noexcept {
    return found.instance.ephemeral && found.ttl_at < now;
}

std::string ServiceInstanceCodec::encode_metadata_key(std::string_view key) {
    if (key.starts_with(metadata_prefix)) refuse("metadata key", key, "must not begin with '_'");
    std::string field{metadata_prefix};
    field += key;
    return field;
}

std::optional<std::string_view> ServiceInstanceCodec::decode_metadata_key(
    std::string_view field) noexcept {
    if (!field.starts_with(metadata_prefix)) return std::nullopt;
    field.remove_prefix(1);
    if (field.starts_with(metadata_prefix)) return std::nullopt;
    return field;
}

std::string ServiceInstanceCodec::encode_host(std::string_view host) {
    return is_bare_ipv6(host) ? joined({"[", host, "]"}) : std::string{host};
}

std::string_view ServiceInstanceCodec::decode_host(std::string_view stored) noexcept {
    if (!stored.starts_with('[') || !stored.ends_with(']')) return stored;
    auto const inner = stored.substr(1, stored.size() - 2);
    return is_bare_ipv6(inner) ? inner : stored;
}

std::vector<std::pair<std::string, std::string>> ServiceInstanceCodec::encode(
    ServiceInstance const& instance) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"instanceId", instance.instance_id},
        {"serviceId", instance.service_name},
        {"schema", instance.scheme},
        {"host", encode_host(instance.host)},
        {"port", std::to_string(instance.port)},
        {"weight", std::to_string(instance.weight)},
        {"ephemeral", instance.ephemeral ? "true" : "false"}};
    fields.reserve(fields.size() + instance.metadata.size());
    for (auto const& [key, value] : instance.metadata) {
        fields.emplace_back(encode_metadata_key(key), value);
    }
    return fields;
}

std::optional<DiscoveredInstance> ServiceInstanceCodec::decode(std::span<Field const> fields) {
    auto const texts = sort(fields);
    if (!describes(texts)) return std::nullopt;
    auto const port = parse_java_int(*texts.port);
    auto const weight = parse_java_int(*texts.weight);
    if (!port || !weight) return std::nullopt;

    std::optional<DiscoveredInstance> result{std::in_place};
    auto& instance = result->instance;
    instance.service_name = *texts.service;
    instance.instance_id = *texts.instance_id;
    instance.scheme = to_utf8(*texts.scheme);
    instance.host = to_utf8(decode_host(*texts.host));
    instance.port = effective_port(instance.scheme, *port);
    instance.weight = *weight;
    instance.ephemeral = parse_java_bool(*texts.ephemeral);
    instance.metadata = read_metadata(fields);
    result->ttl_at = read_ttl_at(texts.ttl_at, instance.ephemeral);
    return result;
}

}  // namespace rollcall::cosky

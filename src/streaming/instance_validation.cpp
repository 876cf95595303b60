#include <cstddef>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "streaming/instance_names.hpp"

#include "rollcall/protocol.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/registry_keys.hpp"
#include "rollcall/streaming/service_identity.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::size_t max_host_size = 253;  // Of a domain name.
constexpr int max_port = 65'535;

void check_host(std::string_view host) {
    constexpr std::string_view field = "host";
    if (is_blank(host)) refuse(field, host, "must not be empty or blank");
    if (host.size() > max_host_size) {
        refuse(field, host, "must not be longer than " + std::to_string(max_host_size) + " bytes");
    }
    if (!is_utf8(host)) refuse(field, host, "must be UTF-8");
    for (std::size_t at = 0; at < host.size();) {
        auto const c = next_code_point(host, at);
        if (is_white_space(c)) refuse(field, host, "must not contain white space");
        if (is_control(c)) refuse(field, host, "must not contain control characters");
    }
    if (host.find_first_of("[]") != std::string_view::npos) {
        refuse(field, host, "must not contain brackets: write an IPv6 address without them");
    }
    if (host.find_first_of("/\\?#@") != std::string_view::npos) {
        refuse(field, host, "must be a name or an address, without any of / \\ ? # @");
    }
    if (auto const colon = host.find(':');
        colon != std::string_view::npos && host.find(':', colon + 1) == std::string_view::npos) {
        refuse(field, host, "must not carry a port");
    }
}

void check_port(int port) {
    if (port < 0 || port > max_port) refuse("port", port, "must be between 0 and 65535");
}

void check_metadata(Metadata const& metadata) {
    for (auto const& [key, value] : metadata) {
        if (!is_utf8(key)) refuse("metadata key", key, "must be UTF-8");
        if (!is_utf8(value)) refuse("metadata value", value, "must be UTF-8");
        if (key == "@class") {
            refuse("metadata key", key, "must not be @class, which messages use for themselves");
        }
    }
    auto const size = InstanceEntryCodec::metadata_json(metadata).size();
    if (size > InstanceEntryCodec::max_metadata_size) {
        refuse("metadata", std::to_string(size) + " bytes of JSON",
               "must not be longer than " + std::to_string(InstanceEntryCodec::max_metadata_size) +
                   " bytes");
    }
}

/// How an instance is reached, as it is stored.
struct Reach {
    std::string_view scheme;
    int port;
};

Reach checked_reach(ServiceInstance const& instance) {
    check_host(instance.host);
    check_port(instance.port);
    auto const protocol = find_protocol(instance.scheme);
    if (!protocol) {
        refuse("protocol", instance.scheme, "must be a known one, such as http, tcp or grpc");
    }
    return {protocol->name, effective_port(protocol->name, instance.port)};
}

}  // namespace

InstanceNames stored_names(ServiceInstance const& instance) {
    InstanceNames names;
    names.service = RegistryKeys::validate_and_sanitize_service_name(instance.service_name);
    bool const made = instance.instance_id.empty() && !instance.host.empty();
    names.id = RegistryKeys::validate_and_sanitize_instance_id(
        made ? generate_instance_id(names.service, instance.host, checked_reach(instance).port)
             : instance.instance_id);
    return names;
}

ServiceInstance InstanceEntryCodec::validated(ServiceInstance const& instance) {
    auto result = instance;
    result.service_name = RegistryKeys::validate_and_sanitize_service_name(instance.service_name);
    auto const reach = checked_reach(instance);
    result.scheme = reach.scheme;
    result.port = reach.port;
    check_metadata(instance.metadata);
    result.instance_id = stored_names(instance).id;
    return result;
}

}  // namespace rollcall::streaming

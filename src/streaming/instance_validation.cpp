#include <string>

#include "core/checks.hpp"
#include "core/protocol_table.hpp"
#include "core/text.hpp"
#include "streaming/instance_names.hpp"

#include "rollcall/protocol.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/registry_keys.hpp"
#include "rollcall/streaming/service_identity.hpp"

namespace rollcall::streaming {
namespace {

void check_metadata(Metadata const& metadata) {
    check_metadata_text(metadata);
    if (metadata.contains("@class")) {
        refuse("metadata key", "@class", "must not be @class, which messages use for themselves");
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
    if (!protocol) refuse("scheme", instance.scheme, "must be one of " + known_protocols());
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

#include "rollcall/cosky/instance_id.hpp"

#include "core/checks.hpp"
#include "core/java_text.hpp"
#include "core/text.hpp"

#include "rollcall/cosky/service_instance_codec.hpp"
#include "rollcall/protocol.hpp"

namespace rollcall::cosky {
namespace {

constexpr std::size_t max_stored_name_size = 1'024;
constexpr std::size_t max_service_size = 255;
constexpr std::size_t max_scheme_size = 255;

std::string id_of(std::string_view service, std::string_view scheme, std::string_view host,
                  int port) {
    return joined({service, "@", scheme, "#", ServiceInstanceCodec::encode_host(host), "#",
                   std::to_string(port)});
}

/// The part of `text` before `mark`, which it takes off with the mark; none without one.
std::optional<std::string_view> take_until(std::string_view& text, char mark) noexcept {
    auto const at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    auto const part = text.substr(0, at);
    text.remove_prefix(at + 1);
    return part;
}

/// A number as `std::to_string` writes it: no plus sign, no leading zeros.
std::optional<int> canonical_int(std::string_view text) {
    auto const number = parse_java_int(text);
    return number && std::to_string(*number) == text ? number : std::nullopt;
}

void check_scheme(std::string_view scheme) {
    constexpr std::string_view field = "scheme";
    check_not_blank(field, scheme);
    check_size(field, scheme, max_scheme_size);
    check_utf8(field, scheme);
    check_one_word(field, scheme);
    check_without(field, scheme, "@#:");
}

int stored_port(std::string_view scheme, int port) {
    check_port(port);
    auto const effective = effective_port(scheme, port);
    if (effective == 0) {
        refuse("port", port, "must be given: the scheme " + shown(scheme) + " has no default");
    }
    return effective;
}

/// An id of another form would be read back by the design's programs as this one.
void check_id(std::string_view given, std::string_view canonical) {
    if (given.empty() || given == canonical) return;
    refuse("instance id", given, "must be empty or " + shown(canonical));
}

}  // namespace

std::string as_instance_id(InstanceIdParts const& parts) {
    return id_of(parts.service_name, parts.scheme, parts.host, parts.port);
}

std::string as_instance_id(ServiceInstance const& instance) {
    return id_of(instance.service_name, instance.scheme, instance.host, instance.port);
}

std::optional<InstanceIdParts> parse_instance_id(std::string_view id) {
    auto const service = take_until(id, '@');
    if (!service || service->empty() || id.find('@') != std::string_view::npos) return std::nullopt;
    auto const scheme = take_until(id, '#');
    if (!scheme || scheme->empty()) return std::nullopt;
    auto const host = take_until(id, '#');
    auto const port = canonical_int(id);
    if (!host || !port) return std::nullopt;
    return InstanceIdParts{std::string{*service}, std::string{*scheme},
                           std::string{ServiceInstanceCodec::decode_host(*host)}, *port};
}

void validate_service(std::string_view service) {
    constexpr std::string_view field = "service name";
    check_not_blank(field, service);
    check_size(field, service, max_service_size);
    check_utf8(field, service);
    check_no_controls(field, service);
    check_without(field, service, "@#");
}

void validate_stored_name(std::string_view field, std::string_view name) {
    check_not_blank(field, name);
    check_size(field, name, max_stored_name_size);
}

void validate_metadata(Metadata const& metadata) {
    if (metadata.size() > max_metadata_pairs) {
        refuse("metadata", std::to_string(metadata.size()) + " pairs",
               "must not be more than " + std::to_string(max_metadata_pairs));
    }
    check_metadata_text(metadata);
    std::size_t size = 0;
    for (auto const& [key, value] : metadata) {
        ServiceInstanceCodec::encode_metadata_key(key);
        size += key.size() + value.size();
    }
    if (size > max_metadata_size) {
        refuse("metadata", std::to_string(size) + " bytes",
               "must not be longer than " + std::to_string(max_metadata_size) + " bytes");
    }
}

ServiceInstance validated(ServiceInstance const& instance) {
    validate_service(instance.service_name);
    check_scheme(instance.scheme);
    check_host(instance.host);
    if (instance.weight < 0) refuse("weight", instance.weight, "must not be negative");
    validate_metadata(instance.metadata);
    auto result = instance;
    result.scheme = lower_case(instance.scheme);
    result.port = stored_port(result.scheme, instance.port);
    result.instance_id = as_instance_id(result);
    check_id(instance.instance_id, result.instance_id);
    // Not stored in this layout, so that a reader finds the defaults.
    result.enabled = ServiceInstance{}.enabled;
    result.healthy = ServiceInstance{}.healthy;
    return result;
}

bool is_same_instance(ServiceInstance const& a, ServiceInstance const& b) noexcept {
    return a.port == b.port && a.instance_id == b.instance_id && a.service_name == b.service_name &&
           a.scheme == b.scheme && a.host == b.host;
}

bool is_secure(ServiceInstance const& instance) noexcept {
    return instance.scheme == "https" || instance.scheme == "wss";
}

}  // namespace rollcall::cosky

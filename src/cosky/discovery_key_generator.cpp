#include "rollcall/cosky/discovery_key_generator.hpp"

#include "core/text.hpp"
#include "registry/key_scan.hpp"

#include "rollcall/cosky/namespaced.hpp"

namespace rollcall::cosky {
namespace {

constexpr std::string_view instance_infix = ":svc_itc:";

}  // namespace

std::string DiscoveryKeyGenerator::service_idx_key(std::string_view ns) {
    return joined({ns, ":svc_idx"});
}

std::string DiscoveryKeyGenerator::service_stat_key(std::string_view ns) {
    return joined({ns, ":svc_stat"});
}

std::string DiscoveryKeyGenerator::instance_idx_key(std::string_view ns, std::string_view service) {
    return joined({ns, ":svc_itc_idx:", service});
}

std::string DiscoveryKeyGenerator::instance_key_prefix(std::string_view ns) {
    return joined({ns, instance_infix});
}

std::string DiscoveryKeyGenerator::instance_key(std::string_view ns, std::string_view instance_id) {
    return joined({ns, instance_infix, instance_id});
}

std::string DiscoveryKeyGenerator::instance_key_pattern(std::string_view ns) {
    return escaped_for_match(instance_key_prefix(ns)) + '*';
}

std::string DiscoveryKeyGenerator::instance_key_pattern(std::string_view ns,
                                                        std::string_view service) {
    return escaped_for_match(joined({ns, instance_infix, service, "@"})) + '*';
}

std::string DiscoveryKeyGenerator::topology_idx_key(std::string_view ns) {
    return joined({ns, ":topology_idx"});
}

std::string DiscoveryKeyGenerator::topology_key(std::string_view ns, std::string_view consumer) {
    return joined({ns, ":topology:", consumer});
}

std::string DiscoveryKeyGenerator::namespace_idx_key() {
    return joined({Namespaced::system_namespace, ":ns_idx"});
}

std::optional<std::string> DiscoveryKeyGenerator::namespace_of_key(std::string_view key) {
    auto const colon = key.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return std::string{key.substr(0, colon)};
}

std::optional<std::string> DiscoveryKeyGenerator::instance_id_of_key(std::string_view ns,
                                                                     std::string_view key) {
    if (!key.starts_with(ns)) return std::nullopt;
    key.remove_prefix(ns.size());
    if (!key.starts_with(instance_infix)) return std::nullopt;
    return std::string{key.substr(instance_infix.size())};
}

}  // namespace rollcall::cosky

#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Builds and takes apart the keys of a namespace. A key is also the channel of what it holds.
/// Source: seed 003, "Redis Key Structure". Pure; nothing is checked.
struct DiscoveryKeyGenerator {
    static std::string service_idx_key(std::string_view ns);   ///< Set: `ns:svc_idx`.
    static std::string service_stat_key(std::string_view ns);  ///< Hash: `ns:svc_stat`.
    /// Set of instance ids: `ns:svc_itc_idx:service`.
    static std::string instance_idx_key(std::string_view ns, std::string_view service);
    static std::string instance_key_prefix(std::string_view ns);  ///< `ns:svc_itc:`.
    static std::string instance_key(std::string_view ns, std::string_view instance_id);  ///< Hash.
    /// Pattern of the keys of all instances, or of those of one service; also matches some of
    /// services whose names begin with `service@`.
    static std::string instance_key_pattern(std::string_view ns);
    static std::string instance_key_pattern(std::string_view ns, std::string_view service);
    static std::string topology_idx_key(std::string_view ns);  ///< Hash: `ns:topology_idx`.
    static std::string topology_key(std::string_view ns, std::string_view consumer);  ///< Hash.
    static std::string namespace_idx_key();  ///< Set: `cosky-{system}:ns_idx`.

    /// What stands before the first `:`; none without one.
    static std::optional<std::string> namespace_of_key(std::string_view key);
    /// What follows `ns:svc_itc:`; none for any other key.
    static std::optional<std::string> instance_id_of_key(std::string_view ns, std::string_view key);
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace rollcall {

/// Labels of an instance, ordered by key. Keys and values are UTF-8.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// One running copy of a service: where it is and what it says of itself.
///
/// The one description for both layouts; what a layout cannot store keeps its default when read
/// back (see `docs/redis-contract.md`). Every member has an initialiser, so that designated
/// initialisers raise no warning in user code.
struct ServiceInstance {
    std::string service_name = {};
    std::string instance_id =
        {};  ///< Empty when registering: made from the address, in the layout's own form.
    /// `protocol` in one design, `schema` in the other. The streaming layout stores those that
    /// `find_protocol` knows, the layout of CoSky any.
    std::string scheme = "http";
    std::string host = {};  ///< Name or address; IPv6 without brackets.
    /// 0…65535 when registering, 0 meaning the scheme's default, which it must have when announced;
    /// reads resolve that and pass on any larger int32 that a peer stored.
    int port = 0;
    /// Share of new traffic; 0 means none (Java's balancers count it as 1). 0…1,000,000 when
    /// announced or set. The designs' own classes register any int32, that of CoSky from 0 on, and
    /// reads pass on whatever is stored.
    int weight = 1;
    bool ephemeral =
        true;  ///< Expires without heartbeats; a persistent instance stays until deregistered.
    bool enabled = true;  ///< Streaming layout only: taken out of choice by its owner when false.
    bool healthy = true;  ///< Streaming layout only.
    Metadata metadata = {};

    friend bool operator==(ServiceInstance const&, ServiceInstance const&) = default;
};

/// What is known about an instance besides its description. Changes with every heartbeat, without
/// the instance counting as changed.
struct InstanceState {
    std::optional<std::chrono::system_clock::time_point> registered_at = {};      ///< Redis' clock.
    std::optional<std::chrono::system_clock::time_point> last_heartbeat_at = {};  ///< Redis' clock.
    /// When the lease runs out unless renewed, on this process's monotonic clock; none for
    /// persistent instances.
    std::optional<std::chrono::steady_clock::time_point> lease_until = {};
    bool suspect = false;  ///< Redis may have lost it; kept until its owner had time to come back.
};

/// `scheme://host:port`, with brackets around an IPv6 host.
std::string uri(ServiceInstance const& instance);

}  // namespace rollcall

#pragma GCC visibility pop

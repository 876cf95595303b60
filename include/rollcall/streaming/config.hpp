#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include "rollcall/streaming/registry_keys.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

inline constexpr std::string_view default_key_prefix = "redis_streaming_registry";

/// What every configuration of this layout has. Source: seed 000, "Configuration".
struct BaseRedisConfig {
    std::string key_prefix{default_key_prefix};
    /// Read by `format_key` alone: the registry's own keys always carry the prefix, as in the
    /// design's program (spec 14.2, number 18).
    bool enable_key_prefix = true;

    RegistryKeys registry_keys() const { return RegistryKeys{key_prefix}; }

    /// `pattern` with its `%s` replaced in order and `%%` made `%`; `key_prefix:` in front if that
    /// is enabled and the prefix is not the empty string. Uses the raw prefix. Errors:
    /// `std::invalid_argument` for another conversion, or more of them than arguments.
    std::string format_key(std::string_view pattern,
                           std::initializer_list<std::string_view> args) const;

    std::string service_instance_key(std::string_view service, std::string_view id) const;
    std::string service_instances_key(std::string_view service) const;  ///< The heartbeats key.
    std::string heartbeat_key(std::string_view service) const;          ///< The same key.
    std::string service_change_channel_key(std::string_view service) const;
};

struct ServiceProviderConfig : BaseRedisConfig {
    /// How long an instance lives without heartbeats. Must be the same for all providers and
    /// consumers of a prefix. At least 1 s.
    std::chrono::seconds heartbeat_timeout{90};
    /// An own instance that a heartbeat finds gone is registered again.
    bool auto_reregister = true;
    /// Housekeeping of expired instances while running: first after `cleanup_delay`, then every
    /// `cleanup_period`, which is at least 1 ms; either is at most `max_heartbeat_timeout`.
    std::chrono::milliseconds cleanup_delay{60'000};
    std::chrono::milliseconds cleanup_period{30'000};
};

struct ServiceConsumerConfig : BaseRedisConfig {
    std::chrono::seconds heartbeat_timeout{90};
    bool enable_admin_service = true;
};

struct NamingServiceConfig : BaseRedisConfig {
    std::chrono::seconds heartbeat_timeout{90};
    bool enable_admin_service = true;
    bool auto_reregister = true;
};

/// When a heartbeat is due, and what it writes.
struct HeartbeatConfig {
    /// Heartbeats sent earlier than this after the last one are skipped. Must be shorter than the
    /// heartbeat timeout.
    std::chrono::milliseconds heartbeat_interval{3'000};
    bool enable_metadata_change_detection = false;
    /// A changed description is written at most this often; zero or less: with every change.
    std::chrono::seconds metadata_update_interval{600};
};

/// The longest heartbeat timeout, and the longest pause of the housekeeping: ten years.
inline constexpr std::chrono::seconds max_heartbeat_timeout = std::chrono::hours{24 * 3'650};

/// Errors: `std::invalid_argument` with field, value and rule for a prefix that
/// `RegistryKeys::validated_prefix` refuses, a heartbeat timeout below 1 s or above
/// `max_heartbeat_timeout`, a heartbeat interval that is negative or not shorter than the timeout
/// (skipped heartbeats would let the instance expire), a cleanup delay that is negative or above
/// `max_heartbeat_timeout`, or a cleanup period below 1 ms or above it.
void validate(ServiceProviderConfig const& config, HeartbeatConfig const& heartbeat = {});
void validate(ServiceConsumerConfig const& config);
void validate(NamingServiceConfig const& config, HeartbeatConfig const& heartbeat = {});

}  // namespace rollcall::streaming

#pragma GCC visibility pop

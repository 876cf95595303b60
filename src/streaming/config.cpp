#include "rollcall/streaming/config.hpp"

#include <cstddef>

#include "core/text.hpp"

namespace rollcall::streaming {
namespace {

void check_timeout(std::chrono::seconds timeout) {
    if (timeout.count() < 1 || timeout > max_heartbeat_timeout) {
        refuse("heartbeat timeout", std::to_string(timeout.count()) + " s",
               "must be between 1 s and " + std::to_string(max_heartbeat_timeout.count()) + " s");
    }
}

void check_interval(HeartbeatConfig const& heartbeat, std::chrono::seconds timeout) {
    auto const interval = heartbeat.heartbeat_interval;
    auto const text = std::to_string(interval.count()) + " ms";
    if (interval.count() < 0) refuse("heartbeat interval", text, "must not be negative");
    if (interval >= timeout) {
        refuse("heartbeat interval", text,
               "must be shorter than the heartbeat timeout of " + std::to_string(timeout.count()) +
                   " s");
    }
}

void check_cleanup(std::chrono::milliseconds delay, std::chrono::milliseconds period) {
    auto const check = [](std::string_view field, std::chrono::milliseconds value,
                          std::chrono::milliseconds least) {
        if (value >= least && value <= max_heartbeat_timeout) return;
        refuse(field, std::to_string(value.count()) + " ms",
               "must be between " + std::to_string(least.count()) + " ms and " +
                   std::to_string(max_heartbeat_timeout.count()) + " s");
    };
    check("cleanup delay", delay, std::chrono::milliseconds{0});
    check("cleanup period", period, std::chrono::milliseconds{1});
}

}  // namespace

std::string BaseRedisConfig::format_key(std::string_view pattern,
                                        std::initializer_list<std::string_view> args) const {
    std::string out;
    if (enable_key_prefix && !key_prefix.empty()) out = key_prefix + ':';
    auto const* next = args.begin();
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '%') {
            out += pattern[at];
            continue;
        }
        char const conversion = ++at < pattern.size() ? pattern[at] : '\0';
        if (conversion == '%') {
            out += '%';
        } else if (conversion != 's') {
            refuse("key pattern", pattern, "may contain %s and %% only");
        } else if (next == args.end()) {
            refuse("key pattern", pattern, "must not have more %s than there are arguments");
        } else {
            out += *next++;
        }
    }
    return out;
}

std::string BaseRedisConfig::service_instance_key(std::string_view service,
                                                  std::string_view id) const {
    return registry_keys().instance(service, id);
}

std::string BaseRedisConfig::service_instances_key(std::string_view service) const {
    return registry_keys().heartbeats(service);
}

std::string BaseRedisConfig::heartbeat_key(std::string_view service) const {
    return registry_keys().heartbeats(service);
}

std::string BaseRedisConfig::service_change_channel_key(std::string_view service) const {
    return registry_keys().changes(service);
}

void validate(ServiceProviderConfig const& config, HeartbeatConfig const& heartbeat) {
    RegistryKeys::validated_prefix(config.key_prefix);
    check_timeout(config.heartbeat_timeout);
    check_interval(heartbeat, config.heartbeat_timeout);
    check_cleanup(config.cleanup_delay, config.cleanup_period);
}

void validate(ServiceConsumerConfig const& config) {
    RegistryKeys::validated_prefix(config.key_prefix);
    check_timeout(config.heartbeat_timeout);
}

void validate(NamingServiceConfig const& config, HeartbeatConfig const& heartbeat) {
    RegistryKeys::validated_prefix(config.key_prefix);
    check_timeout(config.heartbeat_timeout);
    check_interval(heartbeat, config.heartbeat_timeout);
}

}  // namespace rollcall::streaming

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/streaming/config.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// A JSON value of a `metadata` or `metrics` document; objects and arrays as their JSON text.
struct JsonText {
    std::string text;
    friend bool operator==(JsonText const&, JsonText const&) = default;
};
using AdminValue = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonText>;
using AdminValues = std::map<std::string, AdminValue, std::less<>>;

/// Everything that is stored of one instance. Numbers that are missing or malformed are 0, the
/// weight 1; times are milliseconds since the epoch, 0 when unknown, and those that no clock shows
/// are cut to three million years before or after it.
struct InstanceDetails {
    std::string service_name = {};
    std::string instance_id = {};
    std::string host = {};
    int port = 0;
    std::string protocol = {};  ///< As stored.
    bool enabled = true;
    bool healthy = true;
    bool ephemeral = true;
    int weight = 1;
    std::chrono::milliseconds registration_time{0};
    std::chrono::milliseconds last_heartbeat_time{0};
    std::chrono::milliseconds last_metadata_update{0};
    std::optional<AdminValues> metadata = {};  ///< None when the field is missing.
    AdminValues metrics = {};
    std::chrono::milliseconds as_of{0};  ///< Redis' clock when this was read.

    std::chrono::milliseconds heartbeat_delay() const { return as_of - last_heartbeat_time; }
    bool is_expired(std::chrono::milliseconds timeout) const { return heartbeat_delay() > timeout; }
};

/// Average, extremes and number of one numeric metric over the instances of a service.
struct MetricSummary {
    double avg = 0;
    double min = 0;
    double max = 0;
    std::size_t count = 0;
    friend bool operator==(MetricSummary const&, MetricSummary const&) = default;
};

struct AggregatedMetrics {
    /// Milliseconds; a heartbeat of the future, by an odd score or a clock ahead, counts as 0.
    double avg_heartbeat_delay = 0;
    /// Nested members are flattened with `.`; members that then have the same name are pooled.
    std::map<std::string, MetricSummary, std::less<>> metrics = {};
};

struct ServiceDetails {
    std::string service_name = {};
    std::vector<InstanceDetails> instances = {};
    std::size_t total_instances = 0;
    std::size_t healthy_instances = 0;
    std::size_t enabled_instances = 0;
    std::optional<AggregatedMetrics> aggregated_metrics = {};  ///< None without instances.
    std::chrono::milliseconds last_update_time{0};

    double healthy_rate() const noexcept;  ///< Percent; 0 without instances.
    double enabled_rate() const noexcept;
};

struct RegistryHealth {
    std::size_t total_services = 0;
    std::size_t total_instances = 0;    ///< In the heartbeat sets, silent ones included.
    std::size_t healthy_instances = 0;  ///< Active and marked healthy.
    std::size_t active_instances = 0;   ///< Heard of within two minutes.
    double healthy_rate = 0;            ///< Healthy of active, percent.
    std::chrono::milliseconds timestamp{0};
};

/// What operators ask of a prefix, and the removal of expired instances by hand.
/// Source: seed 000, "Admin".
///
/// Names are sanitised as in registration. A failure is `rollcall::Error`, or the code given as
/// last argument.
/// Thread safety: all members, from any thread.
class RegistryAdminService {
public:
    static constexpr std::chrono::milliseconds default_timeout = std::chrono::minutes{2};

    explicit RegistryAdminService(Client const& client, BaseRedisConfig config = {});
    ~RegistryAdminService();
    RegistryAdminService(RegistryAdminService&&) noexcept;
    RegistryAdminService& operator=(RegistryAdminService&&) noexcept;

    std::vector<std::string> all_services();
    std::vector<std::string> all_services(std::error_code& error);

    ServiceDetails service_details(std::string_view service_name,
                                   std::chrono::milliseconds timeout = default_timeout);
    ServiceDetails service_details(std::string_view service_name, std::chrono::milliseconds timeout,
                                   std::error_code& error);

    /// Those heard of within `timeout`, by last heartbeat.
    std::vector<InstanceDetails> active_instances(std::string_view service_name,
                                                  std::chrono::milliseconds timeout);
    std::vector<InstanceDetails> active_instances(std::string_view service_name,
                                                  std::chrono::milliseconds timeout,
                                                  std::error_code& error);

    /// None when there is no Hash.
    std::optional<InstanceDetails> instance_details(std::string_view service_name,
                                                    std::string_view instance_id);
    std::optional<InstanceDetails> instance_details(std::string_view service_name,
                                                    std::string_view instance_id,
                                                    std::error_code& error);

    /// Empty when there are none, or none that can be read.
    AdminValues instance_metrics(std::string_view service_name, std::string_view instance_id);
    AdminValues instance_metrics(std::string_view service_name, std::string_view instance_id,
                                 std::error_code& error);

    /// What cannot be counted because its key has another type is left out, and logged.
    /// Cost: three round trips, in which each active instance costs one command.
    RegistryHealth registry_health();
    RegistryHealth registry_health(std::error_code& error);

    /// Removes and announces what has been silent for longer than `timeout`: the same step as the
    /// provider's housekeeping. The number of removed instances for each service; −1 where the
    /// service could not be cleaned.
    std::map<std::string, int> cleanup_expired_instances(std::chrono::milliseconds timeout);
    std::map<std::string, int> cleanup_expired_instances(std::chrono::milliseconds timeout,
                                                         std::error_code& error);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#include "streaming/instance_details.hpp"

#include <algorithm>
#include <utility>

#include "core/java_text.hpp"
#include "core/text.hpp"
#include "streaming/admin_values.hpp"

namespace rollcall::streaming {

InstanceDetails details_of(std::string const& service, std::string const& id, Milliseconds as_of,
                           std::span<InstanceEntryCodec::Field const> fields) {
    InstanceDetails result;
    result.service_name = service;
    result.instance_id = id;
    result.as_of = as_of;
    auto const time = [](std::string_view text) {
        return bounded_time(Milliseconds{parse_java_long(text).value_or(0)});
    };
    for (auto const& [name, value] : fields) {
        if (name == "host") {
            result.host = to_utf8(value);
        } else if (name == "port") {
            result.port = parse_java_int(value).value_or(0);
        } else if (name == "protocol") {
            result.protocol = to_utf8(value);
        } else if (name == "enabled") {
            result.enabled = parse_java_bool(value);
        } else if (name == "healthy") {
            result.healthy = parse_java_bool(value);
        } else if (name == "ephemeral") {
            result.ephemeral = parse_java_bool(value);
        } else if (name == "weight") {
            result.weight = parse_java_int(value).value_or(1);
        } else if (name == "registrationTime") {
            result.registration_time = time(value);
        } else if (name == "lastHeartbeatTime") {
            result.last_heartbeat_time = time(value);
        } else if (name == "lastMetadataUpdate") {
            result.last_metadata_update = time(value);
        } else if (name == "metadata") {
            result.metadata = read_admin_values(value).value_or(AdminValues{});
        } else if (name == "metrics") {
            result.metrics = read_admin_values(value).value_or(AdminValues{});
        }
    }
    return result;
}

ServiceDetails details_of(std::string const& service, Milliseconds as_of,
                          std::vector<InstanceDetails> instances) {
    ServiceDetails result;
    result.service_name = service;
    result.last_update_time = as_of;
    result.total_instances = instances.size();
    MetricPool metrics;
    double delays = 0;
    for (auto const& instance : instances) {
        if (instance.healthy) ++result.healthy_instances;
        if (instance.enabled) ++result.enabled_instances;
        // One that is said to come from the future, however far, is as good as one of now.
        auto const delay = std::max(instance.heartbeat_delay(), Milliseconds{0});
        delays += static_cast<double>(delay.count());
        metrics.add(instance.metrics);
    }
    if (!instances.empty()) {
        auto& sums = result.aggregated_metrics.emplace();
        sums.avg_heartbeat_delay = delays / static_cast<double>(instances.size());
        sums.metrics = metrics.summaries();
    }
    result.instances = std::move(instances);
    return result;
}

double percent(std::size_t part, std::size_t total) noexcept {
    return total == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(total) * 100;
}

double ServiceDetails::healthy_rate() const noexcept {
    return percent(healthy_instances, total_instances);
}

double ServiceDetails::enabled_rate() const noexcept {
    return percent(enabled_instances, total_instances);
}

}  // namespace rollcall::streaming

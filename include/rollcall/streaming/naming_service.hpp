#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/streaming/service_consumer.hpp"
#include "rollcall/streaming/service_provider.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Provider and consumer in one, with one lifecycle, and the older names of the same calls.
/// Source: seed 000, "Interface Design".
class NamingService : public ServiceProvider, public ServiceConsumer {
public:
    void start() override = 0;
    void stop() override = 0;
    bool is_running() const noexcept override = 0;

    /// Aliases, in the design's older vocabulary.
    HeartbeatResult heartbeat(ServiceInstance const& instance) { return send_heartbeat(instance); }
    std::vector<HeartbeatResult> batch_heartbeat(std::span<ServiceInstance const> instances) {
        return batch_send_heartbeats(instances);
    }
    Instances discover(std::string_view service_name) { return all_instances(service_name); }
    Instances discover(std::string_view service_name, std::error_code& error) {
        return all_instances(service_name, error);
    }
    Instances discover_healthy(std::string_view service_name) {
        return healthy_instances(service_name);
    }
    Instances discover_healthy(std::string_view service_name, std::error_code& error) {
        return healthy_instances(service_name, error);
    }
    Instances discover_by_metadata(std::string_view service_name, Filters const& metadata) {
        return instances_by_metadata(service_name, metadata);
    }
    Instances discover_by_metadata(std::string_view service_name, Filters const& metadata,
                                   std::error_code& error) {
        return instances_by_metadata(service_name, metadata, error);
    }
    Instances discover_healthy_by_metadata(std::string_view service_name, Filters const& metadata) {
        return healthy_instances_by_metadata(service_name, metadata);
    }
    Instances discover_healthy_by_metadata(std::string_view service_name, Filters const& metadata,
                                           std::error_code& error) {
        return healthy_instances_by_metadata(service_name, metadata, error);
    }
};

/// The naming service of the design, on Redis: a provider and a consumer of one prefix.
///
/// Thread safety: all members, from any thread.
class RedisNamingService final : public NamingService {
public:
    explicit RedisNamingService(Client const& client, NamingServiceConfig config = {},
                                HeartbeatConfig heartbeat = {});
    ~RedisNamingService() override;

    ChangeResult register_instance(ServiceInstance const& instance) override;
    ChangeResult register_instance(ServiceInstance const& instance,
                                   std::error_code& error) override;
    ChangeResult deregister_instance(ServiceInstance const& instance) override;
    ChangeResult deregister_instance(ServiceInstance const& instance,
                                     std::error_code& error) override;
    HeartbeatResult send_heartbeat(ServiceInstance const& instance) override;
    std::vector<HeartbeatResult> batch_send_heartbeats(
        std::span<ServiceInstance const> instances) override;

    Instances all_instances(std::string_view service_name) override;
    Instances all_instances(std::string_view service_name, std::error_code& error) override;
    Instances healthy_instances(std::string_view service_name) override;
    Instances healthy_instances(std::string_view service_name, std::error_code& error) override;
    Instances instances(std::string_view service_name, bool healthy) override;
    Instances instances(std::string_view service_name, bool healthy,
                        std::error_code& error) override;
    Instances instances_by_metadata(std::string_view service_name,
                                    Filters const& metadata) override;
    Instances instances_by_metadata(std::string_view service_name, Filters const& metadata,
                                    std::error_code& error) override;
    Instances healthy_instances_by_metadata(std::string_view service_name,
                                            Filters const& metadata) override;
    Instances healthy_instances_by_metadata(std::string_view service_name, Filters const& metadata,
                                            std::error_code& error) override;

    void subscribe(std::string_view service_name,
                   std::shared_ptr<ServiceChangeListener> listener) override;
    void unsubscribe(std::string_view service_name,
                     std::shared_ptr<ServiceChangeListener> const& listener) override;

    Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                   Filters const& metrics) override;
    Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                   Filters const& metrics, std::error_code& error) override;
    Instances healthy_instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics) override;
    Instances healthy_instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics, std::error_code& error) override;

    std::vector<std::string> list_services();
    std::vector<std::string> list_services(std::error_code& error);

    void start() override;  ///< The provider, then the consumer.
    void stop() override;   ///< The provider, then the consumer.
    bool is_running() const noexcept override;

    /// Null unless `enable_admin_service`.
    RegistryAdminService* admin() noexcept;

    NamingServiceConfig const& config() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#include <utility>

#include "rollcall/streaming/naming_service.hpp"
#include "rollcall/streaming/registry_admin_service.hpp"

namespace rollcall::streaming {
namespace {

ServiceProviderConfig provider_config(NamingServiceConfig const& config) {
    ServiceProviderConfig result;
    static_cast<BaseRedisConfig&>(result) = static_cast<BaseRedisConfig const&>(config);
    result.heartbeat_timeout = config.heartbeat_timeout;
    result.auto_reregister = config.auto_reregister;
    return result;
}

ServiceConsumerConfig consumer_config(NamingServiceConfig const& config) {
    ServiceConsumerConfig result;
    static_cast<BaseRedisConfig&>(result) = static_cast<BaseRedisConfig const&>(config);
    result.heartbeat_timeout = config.heartbeat_timeout;
    result.enable_admin_service = config.enable_admin_service;
    return result;
}

NamingServiceConfig checked(NamingServiceConfig config, HeartbeatConfig const& heartbeat) {
    validate(config, heartbeat);
    return config;
}

}  // namespace

struct RedisNamingService::Impl {
    Impl(Client const& client, NamingServiceConfig const& given, HeartbeatConfig const& heartbeat)
        : config(checked(given, heartbeat)),
          provider(client, provider_config(config), heartbeat),
          consumer(client, consumer_config(config)) {}

    NamingServiceConfig config;
    RedisServiceProvider provider;
    RedisServiceConsumer consumer;
};

RedisNamingService::RedisNamingService(Client const& client, NamingServiceConfig config,
                                       HeartbeatConfig heartbeat)
    : impl_(std::make_unique<Impl>(client, config, heartbeat)) {}

RedisNamingService::~RedisNamingService() = default;

ChangeResult RedisNamingService::register_instance(ServiceInstance const& instance) {
    return impl_->provider.register_instance(instance);
}
ChangeResult RedisNamingService::register_instance(ServiceInstance const& instance,
                                                   std::error_code& error) {
    return impl_->provider.register_instance(instance, error);
}

ChangeResult RedisNamingService::deregister_instance(ServiceInstance const& instance) {
    return impl_->provider.deregister_instance(instance);
}
ChangeResult RedisNamingService::deregister_instance(ServiceInstance const& instance,
                                                     std::error_code& error) {
    return impl_->provider.deregister_instance(instance, error);
}

HeartbeatResult RedisNamingService::send_heartbeat(ServiceInstance const& instance) {
    return impl_->provider.send_heartbeat(instance);
}

std::vector<HeartbeatResult> RedisNamingService::batch_send_heartbeats(
    std::span<ServiceInstance const> instances) {
    return impl_->provider.batch_send_heartbeats(instances);
}

Instances RedisNamingService::all_instances(std::string_view service_name) {
    return impl_->consumer.all_instances(service_name);
}
Instances RedisNamingService::all_instances(std::string_view service_name, std::error_code& error) {
    return impl_->consumer.all_instances(service_name, error);
}

Instances RedisNamingService::healthy_instances(std::string_view service_name) {
    return impl_->consumer.healthy_instances(service_name);
}
Instances RedisNamingService::healthy_instances(std::string_view service_name,
                                                std::error_code& error) {
    return impl_->consumer.healthy_instances(service_name, error);
}

Instances RedisNamingService::instances(std::string_view service_name, bool healthy) {
    return impl_->consumer.instances(service_name, healthy);
}
Instances RedisNamingService::instances(std::string_view service_name, bool healthy,
                                        std::error_code& error) {
    return impl_->consumer.instances(service_name, healthy, error);
}

Instances RedisNamingService::instances_by_metadata(std::string_view service_name,
                                                    Filters const& metadata) {
    return impl_->consumer.instances_by_metadata(service_name, metadata);
}
Instances RedisNamingService::instances_by_metadata(std::string_view service_name,
                                                    Filters const& metadata,
                                                    std::error_code& error) {
    return impl_->consumer.instances_by_metadata(service_name, metadata, error);
}

Instances RedisNamingService::healthy_instances_by_metadata(std::string_view service_name,
                                                            Filters const& metadata) {
    return impl_->consumer.healthy_instances_by_metadata(service_name, metadata);
}
Instances RedisNamingService::healthy_instances_by_metadata(std::string_view service_name,
                                                            Filters const& metadata,
                                                            std::error_code& error) {
    return impl_->consumer.healthy_instances_by_metadata(service_name, metadata, error);
}

Instances RedisNamingService::instances_by_filters(std::string_view service_name,
                                                   Filters const& metadata,
                                                   Filters const& metrics) {
    return impl_->consumer.instances_by_filters(service_name, metadata, metrics);
}
Instances RedisNamingService::instances_by_filters(std::string_view service_name,
                                                   Filters const& metadata, Filters const& metrics,
                                                   std::error_code& error) {
    return impl_->consumer.instances_by_filters(service_name, metadata, metrics, error);
}

Instances RedisNamingService::healthy_instances_by_filters(std::string_view service_name,
                                                           Filters const& metadata,
                                                           Filters const& metrics) {
    return impl_->consumer.healthy_instances_by_filters(service_name, metadata, metrics);
}
Instances RedisNamingService::healthy_instances_by_filters(std::string_view service_name,
                                                           Filters const& metadata,
                                                           Filters const& metrics,
                                                           std::error_code& error) {
    return impl_->consumer.healthy_instances_by_filters(service_name, metadata, metrics, error);
}

void RedisNamingService::subscribe(std::string_view service_name,
                                   std::shared_ptr<ServiceChangeListener> listener) {
    impl_->consumer.subscribe(service_name, std::move(listener));
}

void RedisNamingService::unsubscribe(std::string_view service_name,
                                     std::shared_ptr<ServiceChangeListener> const& listener) {
    impl_->consumer.unsubscribe(service_name, listener);
}

std::vector<std::string> RedisNamingService::list_services() {
    return impl_->consumer.list_services();
}
std::vector<std::string> RedisNamingService::list_services(std::error_code& error) {
    return impl_->consumer.list_services(error);
}

void RedisNamingService::start() {
    impl_->provider.start();
    impl_->consumer.start();
}

void RedisNamingService::stop() {
    impl_->provider.stop();
    impl_->consumer.stop();
}

bool RedisNamingService::is_running() const noexcept {
    return impl_->provider.is_running() && impl_->consumer.is_running();
}

RegistryAdminService* RedisNamingService::admin() noexcept { return impl_->consumer.admin(); }

NamingServiceConfig const& RedisNamingService::config() const noexcept { return impl_->config; }

}  // namespace rollcall::streaming

#include <atomic>
#include <stdexcept>
#include <utility>

#include "registry/outcome.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"
#include "streaming/service_subscriptions.hpp"

#include "rollcall/streaming/registry_admin_service.hpp"
#include "rollcall/streaming/service_consumer.hpp"

namespace rollcall::streaming {
namespace {

ServiceConsumerConfig checked(ServiceConsumerConfig config) {
    validate(config);
    return config;
}

}  // namespace

struct RedisServiceConsumer::Impl {
    Impl(Client const& client, ServiceConsumerConfig const& given)
        : core(client.core()),
          config(checked(given)),
          scripts(core, RegistryKeys{config.key_prefix}, config.heartbeat_timeout),
          reader(scripts),
          subscriptions(core, config) {
        if (config.enable_admin_service) admin.emplace(client, config);
    }

    void require_running() const {
        if (!running) throw std::logic_error{"the service consumer is not running"};
    }

    enum class Which { all, healthy };

    Result<Instances> find(std::string_view service_name, Which which, Filters const& metadata,
                           Filters const& metrics);
    Result<std::vector<std::string>> services();

    std::shared_ptr<redis::ClientCore> core;
    ServiceConsumerConfig config;
    RegistryLuaScriptExecutor scripts;
    InstanceReader reader;  // On the I/O thread only.
    std::optional<RegistryAdminService> admin;
    std::atomic<bool> running = false;
    ServiceSubscriptions subscriptions;
};

Result<Instances> RedisServiceConsumer::Impl::find(std::string_view service_name, Which which,
                                                   Filters const& metadata,
                                                   Filters const& metrics) {
    require_running();
    auto const service = RegistryKeys::validate_and_sanitize_service_name(service_name);
    auto found = core->run([&] {
        return reader.list(service, ListScope::discoverable, metadata, metrics,
                           InstanceReader::Leases::left_out, core->deadline());
    });
    if (found.has_error()) return found.error();
    Instances result;
    result.reserve(found->size());
    for (auto& one : *found) {
        auto const& instance = one.instance;
        if (which == Which::healthy && !(instance.enabled && instance.healthy)) continue;
        result.push_back(std::move(one.instance));
    }
    return result;
}

Result<std::vector<std::string>> RedisServiceConsumer::Impl::services() {
    require_running();
    return core->run([&] { return reader.services(core->deadline()); });
}

RedisServiceConsumer::RedisServiceConsumer(Client const& client, ServiceConsumerConfig config)
    : impl_(std::make_shared<Impl>(client, config)) {}

RedisServiceConsumer::~RedisServiceConsumer() { impl_->subscriptions.close(); }

Instances RedisServiceConsumer::all_instances(std::string_view service_name) {
    return outcome(impl_->find(service_name, Impl::Which::all, {}, {}));
}
Instances RedisServiceConsumer::all_instances(std::string_view service_name,
                                              std::error_code& error) {
    return outcome(impl_->find(service_name, Impl::Which::all, {}, {}), error);
}

Instances RedisServiceConsumer::healthy_instances(std::string_view service_name) {
    return outcome(impl_->find(service_name, Impl::Which::healthy, {}, {}));
}
Instances RedisServiceConsumer::healthy_instances(std::string_view service_name,
                                                  std::error_code& error) {
    return outcome(impl_->find(service_name, Impl::Which::healthy, {}, {}), error);
}

Instances RedisServiceConsumer::instances(std::string_view service_name, bool healthy) {
    return healthy ? healthy_instances(service_name) : all_instances(service_name);
}
Instances RedisServiceConsumer::instances(std::string_view service_name, bool healthy,
                                          std::error_code& error) {
    return healthy ? healthy_instances(service_name, error) : all_instances(service_name, error);
}

Instances RedisServiceConsumer::instances_by_metadata(std::string_view service_name,
                                                      Filters const& metadata) {
    return instances_by_filters(service_name, metadata, {});
}
Instances RedisServiceConsumer::instances_by_metadata(std::string_view service_name,
                                                      Filters const& metadata,
                                                      std::error_code& error) {
    return instances_by_filters(service_name, metadata, {}, error);
}

Instances RedisServiceConsumer::healthy_instances_by_metadata(std::string_view service_name,
                                                              Filters const& metadata) {
    return healthy_instances_by_filters(service_name, metadata, {});
}
Instances RedisServiceConsumer::healthy_instances_by_metadata(std::string_view service_name,
                                                              Filters const& metadata,
                                                              std::error_code& error) {
    return healthy_instances_by_filters(service_name, metadata, {}, error);
}

Instances RedisServiceConsumer::instances_by_filters(std::string_view service_name,
                                                     Filters const& metadata,
                                                     Filters const& metrics) {
    return outcome(impl_->find(service_name, Impl::Which::all, metadata, metrics));
}
Instances RedisServiceConsumer::instances_by_filters(std::string_view service_name,
                                                     Filters const& metadata,
                                                     Filters const& metrics,
                                                     std::error_code& error) {
    return outcome(impl_->find(service_name, Impl::Which::all, metadata, metrics), error);
}

Instances RedisServiceConsumer::healthy_instances_by_filters(std::string_view service_name,
                                                             Filters const& metadata,
                                                             Filters const& metrics) {
    return outcome(impl_->find(service_name, Impl::Which::healthy, metadata, metrics));
}
Instances RedisServiceConsumer::healthy_instances_by_filters(std::string_view service_name,
                                                             Filters const& metadata,
                                                             Filters const& metrics,
                                                             std::error_code& error) {
    return outcome(impl_->find(service_name, Impl::Which::healthy, metadata, metrics), error);
}

std::vector<std::string> RedisServiceConsumer::list_services() {
    return outcome(impl_->services());
}
std::vector<std::string> RedisServiceConsumer::list_services(std::error_code& error) {
    return outcome(impl_->services(), error);
}

void RedisServiceConsumer::subscribe(std::string_view service_name,
                                     std::shared_ptr<ServiceChangeListener> listener) {
    impl_->require_running();
    if (!listener) throw std::invalid_argument{"subscribe: no listener"};
    impl_->subscriptions.add(RegistryKeys::validate_and_sanitize_service_name(service_name),
                             std::move(listener));
}

void RedisServiceConsumer::unsubscribe(std::string_view service_name,
                                       std::shared_ptr<ServiceChangeListener> const& listener) {
    impl_->subscriptions.remove(RegistryKeys::sanitize_service_name(service_name), listener.get());
}

void RedisServiceConsumer::start() {
    impl_->subscriptions.open();
    impl_->running = true;
}

void RedisServiceConsumer::stop() {
    impl_->running = false;
    impl_->subscriptions.close();
}
bool RedisServiceConsumer::is_running() const noexcept { return impl_->running; }

RegistryAdminService* RedisServiceConsumer::admin() noexcept {
    return impl_->admin ? &*impl_->admin : nullptr;
}

ServiceConsumerConfig const& RedisServiceConsumer::config() const noexcept { return impl_->config; }

}  // namespace rollcall::streaming

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "registry/outcome.hpp"
#include "streaming/discovered.hpp"
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

    void note(std::string const& service, Instances const& found, bool all);
    void refresh(std::string_view service_name);
    std::size_t count() const;
    bool healthy(std::optional<std::string> const& service, std::string_view id) const;

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

    mutable std::mutex mutex;
    Discovered discovered;  // Guarded by it.
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
    for (auto& one : *found) result.push_back(std::move(one.instance));
    note(service, result, metadata.empty() && metrics.empty());
    if (which == Which::healthy) {
        std::erase_if(result, [](auto const& one) { return !(one.enabled && one.healthy); });
    }
    return result;
}

void RedisServiceConsumer::Impl::note(std::string const& service, Instances const& found,
                                      bool all) {
    std::lock_guard const lock{mutex};
    if (all) {
        discovered.replace(service, found);
    } else {
        discovered.merge(service, found);
    }
}

void RedisServiceConsumer::Impl::refresh(std::string_view service_name) {
    if (!running) return;
    std::string why;
    try {
        auto const found = find(service_name, Which::all, {}, {});
        if (!found.has_error()) return;
        why = found.error().detail();
    } catch (std::exception const& error) {
        why = error.what();
    }
    core->log().write(LogLevel::warning, "refresh", "nothing was refreshed: " + why);
}

std::size_t RedisServiceConsumer::Impl::count() const {
    if (core->closed()) return 0;  // Another thread may have held the mutex at the fork.
    std::set<std::string> subscribed;
    std::size_t result = 0;
    for (auto const& [service, now] : subscriptions.snapshots()) {
        subscribed.insert(service);
        result += now.size();
    }
    std::lock_guard const lock{mutex};
    return result + discovered.count(subscribed);
}

/// Without a service: in all that have one of that id.
bool RedisServiceConsumer::Impl::healthy(std::optional<std::string> const& service,
                                         std::string_view id) const {
    if (core->closed()) return false;
    auto const subscribed = subscriptions.snapshots();
    std::optional<bool> all;
    auto const add = [&](std::optional<bool> one) {
        if (one) all = *one && all.value_or(true);
    };
    for (auto const& [name, now] : subscribed) {
        if (service && name != *service) continue;
        if (auto const* const instance = now.find(id)) add(instance->healthy);
    }
    std::lock_guard const lock{mutex};
    for (auto const& name : service ? std::vector{*service} : discovered.services()) {
        if (!subscribed.contains(name)) add(discovered.healthy(name, id));
    }
    return all.value_or(false);
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

void RedisServiceConsumer::refresh_service_instances(std::string_view service_name) {
    impl_->refresh(service_name);
}

std::size_t RedisServiceConsumer::discovered_instance_count() const { return impl_->count(); }

bool RedisServiceConsumer::is_instance_healthy(std::string_view instance_id) const {
    return impl_->healthy(std::nullopt, RegistryKeys::sanitize_instance_id(instance_id));
}

bool RedisServiceConsumer::is_instance_healthy(std::string_view service_name,
                                               std::string_view instance_id) const {
    return impl_->healthy(RegistryKeys::sanitize_service_name(service_name),
                          RegistryKeys::sanitize_instance_id(instance_id));
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

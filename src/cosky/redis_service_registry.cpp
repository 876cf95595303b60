#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/own_instances.hpp"
#include "cosky/renewal_round.hpp"
#include "cosky/renewal_tolerance.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/cosky/service_registry.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

RegistryProperties checked(RegistryProperties properties) {
    validate(properties);
    return properties;
}

}  // namespace

struct RedisServiceRegistry::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, RegistryProperties const& given)
        : core(std::move(client)),
          properties(checked(given)),
          lease(std::chrono::ceil<seconds>(properties.instance_ttl)),
          scripts(core) {}

    Result<bool> set_service(std::string_view ns, std::string_view service) const;
    Result<bool> remove_service(std::string_view ns, std::string_view service) const;
    Result<bool> add(std::string_view ns, ServiceInstance const& instance);
    Result<bool> remove(std::string_view ns, std::string_view service, std::string_view id);
    Result<bool> renew(std::string_view ns, ServiceInstance const& instance);
    Result<bool> describe(std::string_view ns, std::string_view service, std::string_view id,
                          Metadata const& metadata, bool merge);
    std::vector<RenewedInstance> renew_all(milliseconds period);

    Task<Result<bool>> store(std::string ns, ServiceInstance instance);
    Task<Result<bool>> withdraw(std::string ns, InstanceId names);

    std::shared_ptr<redis::ClientCore> core;
    RegistryProperties properties;
    seconds lease;
    DiscoveryRedisScripts scripts;
    OwnInstances own;
};

namespace {

Result<bool> said(Result<Written> const& written) {
    if (written.has_error()) return written.error();
    return written->existed;
}

/// What it is stored under, also when a peer gave it an id that ours would not have.
std::string id_of(ServiceInstance const& instance) {
    return instance.instance_id.empty() ? validated(instance).instance_id : instance.instance_id;
}

/// Errors: `std::invalid_argument`.
InstanceId checked_id(std::string_view service, std::string_view id) {
    validate_stored_name("service name", service);
    validate_stored_name("instance id", id);
    return {std::string{service}, std::string{id}};
}

}  // namespace

Result<bool> RedisServiceRegistry::Impl::set_service(std::string_view ns,
                                                     std::string_view service) const {
    validate_namespace(ns);
    validate_service(service);
    std::string const space{ns};
    std::string const name{service};
    return said(
        core->run([&] { return scripts.registry_set_service(space, name, core->deadline()); }));
}

Result<bool> RedisServiceRegistry::Impl::remove_service(std::string_view ns,
                                                        std::string_view service) const {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    std::string const space{ns};
    std::string const name{service};
    return said(
        core->run([&] { return scripts.registry_remove_service(space, name, core->deadline()); }));
}

/// Registers, and takes it back if it was deregistered meanwhile: calls of different scripts may be
/// carried out in another order than they were made.
Task<Result<bool>> RedisServiceRegistry::Impl::store(std::string ns, ServiceInstance instance) {
    RegisterCall call;
    call.ns = ns;
    call.lease = lease;
    call.instance = std::move(instance);
    NamespacedInstanceId const id{ns, call.instance.instance_id};
    auto const deadline = core->deadline();
    for (;;) {
        auto const ticket = own.begin(id);
        auto const written = co_await scripts.registry_register(call, deadline);
        if (written.has_error()) {
            own.fail(ticket);
            co_return written.error();
        }
        auto kept = std::make_shared<ServiceInstance const>(call.instance);
        auto const standing = own.succeed(ticket, std::move(kept));
        if (standing == OwnInstances::Standing::undone) continue;
        if (standing == OwnInstances::Standing::withdrawn) {
            InstanceId const names{call.instance.service_name, call.instance.instance_id};
            (void)co_await scripts.registry_deregister(ns, names, deadline);
        }
        co_return true;
    }
}

Task<Result<bool>> RedisServiceRegistry::Impl::withdraw(std::string ns, InstanceId names) {
    NamespacedInstanceId const id{ns, names.id};
    auto const since = own.erase(id);
    auto const written = co_await scripts.registry_deregister(ns, names, core->deadline());
    bool const undone = own.deregistered(id, since);
    // Whoever registered it since has been told that it is there.
    auto const entry = undone ? own.find(id) : std::nullopt;
    if (entry) {
        auto again = *entry->instance;
        (void)co_await store(ns, std::move(again));
    }
    if (written.has_error()) co_return written.error();
    // Of a call that was sent again, the first may have removed it.
    co_return written->existed || written->repeated;
}

Result<bool> RedisServiceRegistry::Impl::add(std::string_view ns, ServiceInstance const& instance) {
    validate_namespace(ns);
    std::string const space{ns};
    auto const stored = validated(instance);
    return core->run([&] { return store(space, stored); });
}

Result<bool> RedisServiceRegistry::Impl::remove(std::string_view ns, std::string_view service,
                                                std::string_view id) {
    validate_namespace(ns);
    if (core->closed()) return Failure{errc::closed, "this is a forked process"};
    std::string const space{ns};
    auto const names = checked_id(service, id);
    own.erase(NamespacedInstanceId{space, names.id});  // Whatever comes of the call.
    return core->run([&] { return withdraw(space, names); });
}

Result<bool> RedisServiceRegistry::Impl::renew(std::string_view ns,
                                               ServiceInstance const& instance) {
    validate_namespace(ns);
    auto stored = validated(instance);
    if (!stored.ephemeral) return false;
    if (core->closed()) return Failure{errc::closed, "this is a forked process"};
    RenewCall call;
    call.ns = ns;
    call.ids.push_back({stored.service_name, stored.instance_id});
    call.lease = lease;
    call.tolerance = renewal_tolerance(lease);
    auto const found = core->run([&] { return scripts.registry_renew(call, core->deadline()); });
    if (found.has_error()) return found.error();
    auto const entry = own.find(NamespacedInstanceId{call.ns, stored.instance_id});
    switch (*found) {
        case Lease::renewed:
            return true;
        case Lease::wrong_type:
        case Lease::refused:
            return Failure{errc::unexpected_reply,
                           "renew " + stored.instance_id + ": its key is no Hash"};
        case Lease::persistent:
            core->log().write(LogLevel::warning, "made-persistent",
                              made_persistent(stored.instance_id, properties.reclaim_persistent));
            if (properties.reclaim_persistent) break;
            if (entry) own.erase(*entry);
            return false;
        case Lease::ending:
        case Lease::missing:
            break;
    }
    // What it is now, not what the caller may have kept.
    if (entry) stored = *entry->instance;
    return core->run([&] { return store(call.ns, stored); });
}

Result<bool> RedisServiceRegistry::Impl::describe(std::string_view ns, std::string_view service,
                                                  std::string_view id, Metadata const& metadata,
                                                  bool merge) {
    validate_metadata(metadata);
    validate_namespace(ns);
    std::string const space{ns};
    auto const names = checked_id(service, id);
    auto const done = said(core->run([&] {
        auto const deadline = core->deadline();
        return merge ? scripts.registry_merge_metadata(space, names, metadata, deadline)
                     : scripts.registry_set_metadata(space, names, metadata, deadline);
    }));
    if (done.has_value() && *done) {
        own.describe(NamespacedInstanceId{space, names.id}, metadata, merge);
    }
    return done;
}

std::vector<RenewedInstance> RedisServiceRegistry::Impl::renew_all(milliseconds period) {
    std::vector<RenewedInstance> results;
    if (core->closed()) return results;
    RenewalRound round{scripts, own, lease, renewal_tolerance(lease, period),
                       properties.reclaim_persistent};
    auto const entries = own.all();
    results.reserve(entries.size());
    for (std::span<OwnInstances::Entry const> left{entries}; !left.empty();) {
        auto const wave = left.first(std::min(left.size(), RenewalRound::max_instances));
        left = left.subspan(wave.size());
        auto const renewals = core->run([&] { return round.run(wave, core->deadline()); });
        for (std::size_t i = 0; i < wave.size(); ++i) {
            results.push_back({wave[i].id.ns, wave[i].instance,
                               renewals.has_value() ? (*renewals)[i] : Renewal::failed});
        }
    }
    return results;
}

RedisServiceRegistry::RedisServiceRegistry(Client const& client, RegistryProperties properties)
    : impl_(std::make_shared<Impl>(client.core(), properties)) {}

RedisServiceRegistry::~RedisServiceRegistry() = default;

bool RedisServiceRegistry::set_service(std::string_view ns, std::string_view service) {
    return outcome(impl_->set_service(ns, service));
}
bool RedisServiceRegistry::set_service(std::string_view ns, std::string_view service,
                                       std::error_code& error) {
    return outcome(impl_->set_service(ns, service), error);
}

bool RedisServiceRegistry::remove_service(std::string_view ns, std::string_view service) {
    return outcome(impl_->remove_service(ns, service));
}
bool RedisServiceRegistry::remove_service(std::string_view ns, std::string_view service,
                                          std::error_code& error) {
    return outcome(impl_->remove_service(ns, service), error);
}

bool RedisServiceRegistry::register_instance(std::string_view ns, ServiceInstance const& instance) {
    return outcome(impl_->add(ns, instance));
}
bool RedisServiceRegistry::register_instance(std::string_view ns, ServiceInstance const& instance,
                                             std::error_code& error) {
    return outcome(impl_->add(ns, instance), error);
}

bool RedisServiceRegistry::deregister(std::string_view ns, ServiceInstance const& instance) {
    return outcome(impl_->remove(ns, instance.service_name, id_of(instance)));
}
bool RedisServiceRegistry::deregister(std::string_view ns, ServiceInstance const& instance,
                                      std::error_code& error) {
    return outcome(impl_->remove(ns, instance.service_name, id_of(instance)), error);
}
bool RedisServiceRegistry::deregister(std::string_view ns, std::string_view service,
                                      std::string_view instance_id) {
    return outcome(impl_->remove(ns, service, instance_id));
}
bool RedisServiceRegistry::deregister(std::string_view ns, std::string_view service,
                                      std::string_view instance_id, std::error_code& error) {
    return outcome(impl_->remove(ns, service, instance_id), error);
}

bool RedisServiceRegistry::renew(std::string_view ns, ServiceInstance const& instance) {
    return outcome(impl_->renew(ns, instance));
}
bool RedisServiceRegistry::renew(std::string_view ns, ServiceInstance const& instance,
                                 std::error_code& error) {
    return outcome(impl_->renew(ns, instance), error);
}

bool RedisServiceRegistry::set_metadata(std::string_view ns, std::string_view service,
                                        std::string_view instance_id, std::string_view key,
                                        std::string_view value) {
    Metadata const metadata{{std::string{key}, std::string{value}}};
    return outcome(impl_->describe(ns, service, instance_id, metadata, false));
}
bool RedisServiceRegistry::set_metadata(std::string_view ns, std::string_view service,
                                        std::string_view instance_id, std::string_view key,
                                        std::string_view value, std::error_code& error) {
    Metadata const metadata{{std::string{key}, std::string{value}}};
    return outcome(impl_->describe(ns, service, instance_id, metadata, false), error);
}
bool RedisServiceRegistry::set_metadata(std::string_view ns, std::string_view service,
                                        std::string_view instance_id, Metadata const& metadata) {
    return outcome(impl_->describe(ns, service, instance_id, metadata, false));
}
bool RedisServiceRegistry::set_metadata(std::string_view ns, std::string_view service,
                                        std::string_view instance_id, Metadata const& metadata,
                                        std::error_code& error) {
    return outcome(impl_->describe(ns, service, instance_id, metadata, false), error);
}

bool RedisServiceRegistry::merge_metadata(std::string_view ns, std::string_view service,
                                          std::string_view instance_id, Metadata const& metadata) {
    return outcome(impl_->describe(ns, service, instance_id, metadata, true));
}
bool RedisServiceRegistry::merge_metadata(std::string_view ns, std::string_view service,
                                          std::string_view instance_id, Metadata const& metadata,
                                          std::error_code& error) {
    return outcome(impl_->describe(ns, service, instance_id, metadata, true), error);
}

std::map<NamespacedInstanceId, ServiceInstance>
RedisServiceRegistry::registered_ephemeral_instances() const {
    std::map<NamespacedInstanceId, ServiceInstance> result;
    for (auto const& entry : impl_->own.all()) {
        result.emplace_hint(result.end(), entry.id, *entry.instance);
    }
    return result;
}

std::vector<RenewedInstance> RedisServiceRegistry::renew_registered(milliseconds period) {
    return impl_->renew_all(period);
}

RegistryProperties const& RedisServiceRegistry::properties() const noexcept {
    return impl_->properties;
}

std::shared_ptr<redis::ClientCore> RedisServiceRegistry::core() const { return impl_->core; }

}  // namespace rollcall::cosky

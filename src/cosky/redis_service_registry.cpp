#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/own_instances.hpp"
#include "cosky/renewal_round.hpp"
#include "cosky/renewal_tolerance.hpp"
#include "registry/outcome.hpp"
#include "registry/script_calls.hpp"

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

    RegisterCall register_call(std::string_view ns, ServiceInstance instance) const;
    Task<Result<bool>> put(OwnInstances::Operation const& operation, RegisterCall call,
                           Deadline deadline);
    Task<Result<bool>> store(RegisterCall call, Deadline deadline);
    Task<Result<bool>> withdraw(std::string ns, InstanceId names, Deadline deadline);
    Task<Result<bool>> prolong(OwnInstances::Operation const& operation, RenewCall call,
                               ServiceInstance given, Deadline deadline);
    std::vector<OwnInstances::Entry> in_turn();
    void next_begins_at(NamespacedInstanceId id);
    Task<Result<bool>> redescribe(std::string ns, InstanceId names, Metadata metadata, bool merge,
                                  Deadline deadline);

    std::shared_ptr<redis::ClientCore> core;
    RegistryProperties properties;
    seconds lease;
    DiscoveryRedisScripts scripts;
    OwnInstances own;
    Lanes lanes;  // On the I/O thread only.

    std::mutex rounds;
    NamespacedInstanceId first;  // Guarded by it: where the next round begins.
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

/// Ids of ours name their service. Peers may list one under another service, too: what is done
/// there does not concern the instance that is kept alive.
bool may_be_own(InstanceId const& names) { return names.id.starts_with(names.service + "@"); }

Failure held_up(std::string_view what, NamespacedInstanceId const& id) {
    return {errc::timeout, subject(what, id.instance_id) + ": an earlier operation on it goes on"};
}

}  // namespace

RegisterCall RedisServiceRegistry::Impl::register_call(std::string_view ns,
                                                       ServiceInstance instance) const {
    RegisterCall call;
    call.ns = ns;
    call.lease = lease;
    call.instance = std::move(instance);
    return call;
}

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

/// In the lane of the id. False: it was deregistered meanwhile.
Task<Result<bool>> RedisServiceRegistry::Impl::put(OwnInstances::Operation const& operation,
                                                   RegisterCall call, Deadline deadline) {
    auto const written = co_await scripts.registry_register(call, deadline);
    auto stored = std::make_shared<ServiceInstance const>(std::move(call.instance));
    if (written.has_error()) {
        if (is_unanswered(written.error())) own.doubt(operation, std::move(stored));
        co_return written.error();
    }
    co_return own.keep(operation, std::move(stored), std::chrono::steady_clock::now());
}

Task<Result<bool>> RedisServiceRegistry::Impl::store(RegisterCall call, Deadline deadline) {
    NamespacedInstanceId const id{call.ns, call.instance.instance_id};
    auto const pass = co_await lanes.enter(id, deadline, LaneUse::registration(call.instance));
    if (!pass) co_return held_up("register", id);
    auto const operation = own.registration(id);
    auto const kept = co_await put(operation, std::move(call), deadline);
    if (kept.has_error()) co_return kept.error();
    co_return true;
}

Task<Result<bool>> RedisServiceRegistry::Impl::withdraw(std::string ns, InstanceId names,
                                                        Deadline deadline) {
    NamespacedInstanceId const id{ns, names.id};
    auto const pass = co_await lanes.enter(id, deadline, LaneUse::removal());
    if (!pass) co_return held_up("deregister", id);
    // Also what was registered while this waited.
    if (may_be_own(names)) own.erase(id);
    auto const written = co_await scripts.registry_deregister(ns, names, deadline);
    if (written.has_error()) co_return written.error();
    // Of a call that was sent again, the first may have removed it.
    co_return written->existed || written->repeated;
}

Result<bool> RedisServiceRegistry::Impl::add(std::string_view ns, ServiceInstance const& instance) {
    validate_namespace(ns);
    auto const deadline = core->deadline();
    auto call = register_call(ns, validated(instance));
    return core->run([&] { return store(std::move(call), deadline); });
}

Result<bool> RedisServiceRegistry::Impl::remove(std::string_view ns, std::string_view service,
                                                std::string_view id) {
    validate_namespace(ns);
    if (core->closed()) return Failure{errc::closed, "this is a forked process"};
    auto const deadline = core->deadline();
    std::string const space{ns};
    auto const names = checked_id(service, id);
    // Whatever comes of the call.
    std::optional<OwnInstances::Operation> operation;
    if (may_be_own(names)) operation.emplace(own.removal({space, names.id}));
    return core->run([&] { return withdraw(space, names, deadline); });
}

Task<Result<bool>> RedisServiceRegistry::Impl::prolong(OwnInstances::Operation const& operation,
                                                       RenewCall call, ServiceInstance given,
                                                       Deadline deadline) {
    NamespacedInstanceId const id{call.ns, given.instance_id};
    auto const pass = co_await lanes.enter(id, deadline, LaneUse::renewal(given));
    if (!pass) co_return held_up("renew", id);
    auto const found = co_await scripts.registry_renew(call, deadline);
    if (found.has_error()) co_return found.error();
    auto const entry = own.find(id);
    switch (*found) {
        case Lease::renewed:
            if (entry && entry->unsure) co_await read_again(scripts, own, *entry, deadline);
            co_return true;
        case Lease::wrong_type:
        case Lease::refused:
            co_return Failure{errc::unexpected_reply,
                              "renew " + id.instance_id + ": its key is no Hash"};
        case Lease::persistent: {
            bool const reclaim =
                properties.reclaim_persistent && !(entry && entry->perhaps_persistent);
            core->log().write(LogLevel::warning, "made-persistent",
                              made_persistent(id.instance_id, reclaim));
            if (reclaim) break;
            if (entry) own.erase(*entry);
            co_return false;
        }
        case Lease::ending:
        case Lease::missing:
            break;
    }
    if (operation.is_withdrawn()) co_return false;
    // What it is now, not what the caller may have kept.
    auto again = register_call(call.ns, entry ? *entry->instance : given);
    co_return co_await put(operation, std::move(again), deadline);
}

Result<bool> RedisServiceRegistry::Impl::renew(std::string_view ns,
                                               ServiceInstance const& instance) {
    validate_namespace(ns);
    auto stored = validated(instance);
    if (!stored.ephemeral) return false;
    if (core->closed()) return Failure{errc::closed, "this is a forked process"};
    auto const deadline = core->deadline();
    RenewCall call;
    call.ns = ns;
    call.ids.push_back({stored.service_name, stored.instance_id});
    call.lease = lease;
    NamespacedInstanceId const id{call.ns, stored.instance_id};
    auto const pause = own.pause(id, std::chrono::steady_clock::now());
    call.tolerance = single_renewal_tolerance(lease, pause);
    auto const operation = own.renewal(id);
    return core->run(
        [&] { return prolong(operation, std::move(call), std::move(stored), deadline); });
}

Task<Result<bool>> RedisServiceRegistry::Impl::redescribe(std::string ns, InstanceId names,
                                                          Metadata metadata, bool merge,
                                                          Deadline deadline) {
    NamespacedInstanceId const id{ns, names.id};
    auto const pass = co_await lanes.enter(id, deadline);
    if (!pass) co_return held_up("set metadata of", id);
    auto task = merge ? scripts.registry_merge_metadata(ns, names, metadata, deadline)
                      : scripts.registry_set_metadata(ns, names, metadata, deadline);
    auto const written = co_await std::move(task);
    bool const sure = written.has_value();
    if (sure ? written->existed : is_unanswered(written.error())) {
        own.describe(id, metadata, merge, sure);
    }
    co_return said(written);
}

Result<bool> RedisServiceRegistry::Impl::describe(std::string_view ns, std::string_view service,
                                                  std::string_view id, Metadata const& metadata,
                                                  bool merge) {
    validate_metadata(metadata);
    validate_namespace(ns);
    auto const deadline = core->deadline();
    std::string const space{ns};
    auto const names = checked_id(service, id);
    return core->run([&] { return redescribe(space, names, metadata, merge, deadline); });
}

std::vector<RenewedInstance> RedisServiceRegistry::Impl::renew_all(milliseconds period) {
    std::vector<RenewedInstance> results;
    if (core->closed()) return results;
    RenewalRound::Settings settings;
    settings.lease = lease;
    settings.tolerance = renewal_tolerance(lease, period);
    settings.reclaim = properties.reclaim_persistent;
    settings.limit = period;
    RenewalRound round{scripts, own, lanes, settings};
    auto const entries = in_turn();
    auto const outcome = round.run_all(entries);
    next_begins_at(outcome.asked < entries.size() ? entries[outcome.asked].id
                                                  : NamespacedInstanceId{});
    results.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        results.push_back({entries[i].id.ns, entries[i].instance, outcome.renewals[i]});
    }
    return results;
}

std::vector<OwnInstances::Entry> RedisServiceRegistry::Impl::in_turn() {
    std::lock_guard const lock{rounds};
    return own.all(first);
}

void RedisServiceRegistry::Impl::next_begins_at(NamespacedInstanceId id) {
    std::lock_guard const lock{rounds};
    first = std::move(id);
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

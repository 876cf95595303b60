#include <string>
#include <utility>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/instance_reader.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/cosky/service_discovery.hpp"

namespace rollcall::cosky {
namespace {

constexpr std::int64_t not_there = -2;

}  // namespace

struct RedisServiceDiscovery::Impl {
    explicit Impl(std::shared_ptr<redis::ClientCore> client)
        : core(std::move(client)), scripts(core), reader(scripts) {}

    Result<std::vector<std::string>> services(std::string_view ns);
    Result<DiscoveredInstances> instances(std::string_view ns, std::string_view service);
    Result<std::optional<DiscoveredInstance>> instance(std::string_view ns,
                                                       std::string_view service,
                                                       std::string_view id);
    Result<std::int64_t> ttl(std::string_view ns, std::string_view service, std::string_view id);

    std::shared_ptr<redis::ClientCore> core;
    DiscoveryRedisScripts scripts;
    InstanceReader reader;  // On the I/O thread only.
};

Result<std::vector<std::string>> RedisServiceDiscovery::Impl::services(std::string_view ns) {
    validate_namespace(ns);
    std::string const space{ns};
    return core->run([&] { return reader.services(space, core->deadline()); });
}

Result<DiscoveredInstances> RedisServiceDiscovery::Impl::instances(std::string_view ns,
                                                                   std::string_view service) {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    std::string const space{ns};
    std::string const name{service};
    auto read = core->run([&] { return reader.list(space, name, core->deadline()); });
    if (read.has_error()) return read.error();
    DiscoveredInstances found;
    found.reserve(read->size());
    for (auto& one : *read) found.push_back(std::move(one.found));
    return found;
}

Result<std::optional<DiscoveredInstance>> RedisServiceDiscovery::Impl::instance(
    std::string_view ns, std::string_view service, std::string_view id) {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    validate_stored_name("instance id", id);
    std::string const space{ns};
    InstanceId const names{std::string{service}, std::string{id}};
    auto read = core->run([&] { return reader.one(space, names, core->deadline()); });
    if (read.has_error()) return read.error();
    if (!*read) return std::optional<DiscoveredInstance>{};
    return std::optional{std::move((*read)->found)};
}

Result<std::int64_t> RedisServiceDiscovery::Impl::ttl(std::string_view ns, std::string_view service,
                                                      std::string_view id) {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    validate_stored_name("instance id", id);
    std::string const space{ns};
    InstanceId const names{std::string{service}, std::string{id}};
    auto const found = core->run([&] { return reader.ttl_at(space, names, core->deadline()); });
    if (found.has_error()) return found.error();
    return found->value_or(not_there);
}

RedisServiceDiscovery::RedisServiceDiscovery(Client const& client)
    : impl_(std::make_shared<Impl>(client.core())) {}

RedisServiceDiscovery::~RedisServiceDiscovery() = default;

std::vector<std::string> RedisServiceDiscovery::services(std::string_view ns) {
    return outcome(impl_->services(ns));
}
std::vector<std::string> RedisServiceDiscovery::services(std::string_view ns,
                                                         std::error_code& error) {
    return outcome(impl_->services(ns), error);
}

DiscoveredInstances RedisServiceDiscovery::instances(std::string_view ns,
                                                     std::string_view service) {
    return outcome(impl_->instances(ns, service));
}
DiscoveredInstances RedisServiceDiscovery::instances(std::string_view ns, std::string_view service,
                                                     std::error_code& error) {
    return outcome(impl_->instances(ns, service), error);
}

std::optional<DiscoveredInstance> RedisServiceDiscovery::instance(std::string_view ns,
                                                                  std::string_view service,
                                                                  std::string_view instance_id) {
    return outcome(impl_->instance(ns, service, instance_id));
}
std::optional<DiscoveredInstance> RedisServiceDiscovery::instance(std::string_view ns,
                                                                  std::string_view service,
                                                                  std::string_view instance_id,
                                                                  std::error_code& error) {
    return outcome(impl_->instance(ns, service, instance_id), error);
}

std::int64_t RedisServiceDiscovery::instance_ttl(std::string_view ns, std::string_view service,
                                                 std::string_view instance_id) {
    return outcome(impl_->ttl(ns, service, instance_id));
}
std::int64_t RedisServiceDiscovery::instance_ttl(std::string_view ns, std::string_view service,
                                                 std::string_view instance_id,
                                                 std::error_code& error) {
    return outcome(impl_->ttl(ns, service, instance_id), error);
}

}  // namespace rollcall::cosky

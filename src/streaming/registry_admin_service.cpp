#include "rollcall/streaming/registry_admin_service.hpp"

#include <utility>

#include "core/text.hpp"
#include "registry/outcome.hpp"
#include "streaming/expiry_sweep.hpp"
#include "streaming/health_figures.hpp"
#include "streaming/instance_details.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::streaming {
namespace {

Milliseconds checked(Milliseconds timeout) {
    if (timeout.count() < 0) {
        refuse("timeout", std::to_string(timeout.count()) + " ms", "must not be negative");
    }
    return timeout;
}

bool has_host(InstanceReader::Fields fields) {
    for (auto const& [name, value] : fields) {
        if (name == "host") return true;
    }
    return false;
}

/// Instances heard of within a time, with the moment of the read.
struct Active {
    Milliseconds now{0};
    std::vector<InstanceDetails> instances = {};
};

Task<Result<Active>> read_active(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader,
                                 std::string const& service, Milliseconds timeout,
                                 Deadline deadline) {
    auto const members = co_await scripts.execute_active_instances(service, timeout, deadline);
    if (members.has_error()) co_return members.error();
    Active result;
    result.now = members->now;
    result.instances.reserve(members->list.size());
    InstanceReader::OnHash const on_hash = [&](std::size_t index, InstanceReader::Fields fields) {
        if (!has_host(fields)) return;  // Left behind by a peer: no instance.
        auto const& member = members->list[index];
        auto& details =
            result.instances.emplace_back(details_of(service, member.id, result.now, fields));
        details.last_heartbeat_time = bounded_time(member.heartbeat);
    };
    auto const read = co_await reader.hashes(service, members->list, on_hash, deadline);
    if (read.has_error()) co_return read.error();
    co_return result;
}

Task<Result<std::optional<InstanceDetails>>> read_one(InstanceReader& reader,
                                                      std::string const& service,
                                                      std::string const& id, Deadline deadline) {
    auto const stored = co_await reader.stored(service, id, deadline);
    if (stored.has_error()) co_return stored.error();
    if (stored->fields.empty()) co_return std::nullopt;
    std::vector<InstanceEntryCodec::Field> const fields{stored->fields.begin(),
                                                        stored->fields.end()};
    co_return details_of(service, id, stored->now, fields);
}

Task<Result<std::map<std::string, int>>> clean_up(InstanceReader& reader, ExpirySweep& sweep,
                                                  Milliseconds timeout, Deadline deadline) {
    auto const services = co_await reader.services(deadline);
    if (services.has_error()) co_return services.error();
    auto const report = co_await sweep.run_for(*services, timeout, deadline);
    std::map<std::string, int> counts;
    for (auto const& service : *services) counts[service] = 0;
    for (auto const& service : report.services) {
        counts[service.service] = service.failure ? -1 : static_cast<int>(service.removed.size());
    }
    co_return counts;
}

}  // namespace

struct RegistryAdminService::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, BaseRedisConfig const& config)
        : core(std::move(client)),
          // It writes no instance: the lease of the executor is of no consequence.
          scripts(core, RegistryKeys{RegistryKeys::validated_prefix(config.key_prefix)},
                  std::chrono::seconds{90}),
          reader(scripts),
          sweep(scripts, reader) {}

    Result<std::vector<std::string>> services() {
        return core->run([&] { return reader.services(core->deadline()); });
    }

    Result<Active> active(std::string_view service_name, Milliseconds timeout) {
        auto const service = RegistryKeys::validate_and_sanitize_service_name(service_name);
        checked(timeout);
        return core->run(
            [&] { return read_active(scripts, reader, service, timeout, core->deadline()); });
    }

    Result<std::optional<InstanceDetails>> one(std::string_view service_name,
                                               std::string_view instance_id) {
        auto const service = RegistryKeys::validate_and_sanitize_service_name(service_name);
        auto const id = RegistryKeys::validate_and_sanitize_instance_id(instance_id);
        return core->run([&] { return read_one(reader, service, id, core->deadline()); });
    }

    Result<std::vector<InstanceDetails>> instances(std::string_view service, Milliseconds timeout) {
        auto found = active(service, timeout);
        if (found.has_error()) return found.error();
        return std::move(found->instances);
    }

    Result<ServiceDetails> details(std::string_view service, Milliseconds timeout) {
        auto found = active(service, timeout);
        if (found.has_error()) return found.error();
        return details_of(RegistryKeys::sanitize_service_name(service), found->now,
                          std::move(found->instances));
    }

    Result<AdminValues> metrics(std::string_view service, std::string_view id) {
        auto found = one(service, id);
        if (found.has_error()) return found.error();
        return *found ? std::move((*found)->metrics) : AdminValues{};
    }

    Result<RegistryHealth> health() {
        return core->run([&] {
            return read_health(scripts, reader, RegistryAdminService::default_timeout,
                               core->deadline());
        });
    }

    Result<std::map<std::string, int>> cleanup(Milliseconds timeout) {
        checked(timeout);
        return core->run([&] { return clean_up(reader, sweep, timeout, core->deadline()); });
    }

    std::shared_ptr<redis::ClientCore> core;
    RegistryLuaScriptExecutor scripts;
    InstanceReader reader;  // On the I/O thread only, as is the next.
    ExpirySweep sweep;
};

RegistryAdminService::RegistryAdminService(Client const& client, BaseRedisConfig config)
    : impl_(std::make_shared<Impl>(client.core(), config)) {}
RegistryAdminService::~RegistryAdminService() = default;
RegistryAdminService::RegistryAdminService(RegistryAdminService&&) noexcept = default;
RegistryAdminService& RegistryAdminService::operator=(RegistryAdminService&&) noexcept = default;

std::vector<std::string> RegistryAdminService::all_services() { return outcome(impl_->services()); }
std::vector<std::string> RegistryAdminService::all_services(std::error_code& error) {
    return outcome(impl_->services(), error);
}

ServiceDetails RegistryAdminService::service_details(std::string_view service_name,
                                                     Milliseconds timeout) {
    return outcome(impl_->details(service_name, timeout));
}
ServiceDetails RegistryAdminService::service_details(std::string_view service_name,
                                                     Milliseconds timeout, std::error_code& error) {
    return outcome(impl_->details(service_name, timeout), error);
}

std::vector<InstanceDetails> RegistryAdminService::active_instances(std::string_view service_name,
                                                                    Milliseconds timeout) {
    return outcome(impl_->instances(service_name, timeout));
}
std::vector<InstanceDetails> RegistryAdminService::active_instances(std::string_view service_name,
                                                                    Milliseconds timeout,
                                                                    std::error_code& error) {
    return outcome(impl_->instances(service_name, timeout), error);
}

std::optional<InstanceDetails> RegistryAdminService::instance_details(
    std::string_view service_name, std::string_view instance_id) {
    return outcome(impl_->one(service_name, instance_id));
}
std::optional<InstanceDetails> RegistryAdminService::instance_details(std::string_view service_name,
                                                                      std::string_view instance_id,
                                                                      std::error_code& error) {
    return outcome(impl_->one(service_name, instance_id), error);
}

AdminValues RegistryAdminService::instance_metrics(std::string_view service_name,
                                                   std::string_view instance_id) {
    return outcome(impl_->metrics(service_name, instance_id));
}
AdminValues RegistryAdminService::instance_metrics(std::string_view service_name,
                                                   std::string_view instance_id,
                                                   std::error_code& error) {
    return outcome(impl_->metrics(service_name, instance_id), error);
}

RegistryHealth RegistryAdminService::registry_health() { return outcome(impl_->health()); }
RegistryHealth RegistryAdminService::registry_health(std::error_code& error) {
    return outcome(impl_->health(), error);
}

std::map<std::string, int> RegistryAdminService::cleanup_expired_instances(Milliseconds timeout) {
    return outcome(impl_->cleanup(timeout));
}
std::map<std::string, int> RegistryAdminService::cleanup_expired_instances(Milliseconds timeout,
                                                                           std::error_code& error) {
    return outcome(impl_->cleanup(timeout), error);
}

}  // namespace rollcall::streaming

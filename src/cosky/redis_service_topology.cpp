#include <utility>

#include "core/text.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_topology.hpp"

namespace rollcall::cosky {
namespace {

// What a process is called that is no instance of a service. Source: spec 10.
constexpr std::string_view no_service = "_Client_";

TopologyOptions checked(TopologyOptions options) {
    if (options.consumer.empty()) {
        options.consumer = no_service;
    } else {
        validate_service(options.consumer);
    }
    if (options.expire_after && *options.expire_after < std::chrono::seconds{1}) {
        refuse("expire_after", options.expire_after->count(), "must be at least 1 s");
    }
    return options;
}

}  // namespace

struct RedisServiceTopology::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, NamespacedContext own,
         TopologyOptions const& given)
        : core(std::move(client)),
          scripts(core),
          context(std::move(own)),
          options(checked(given)) {}

    Result<bool> add(std::string_view ns, std::string_view service) const;
    Result<Topology> read(std::string_view ns) const;

    std::shared_ptr<redis::ClientCore> core;
    DiscoveryRedisScripts scripts;
    NamespacedContext context;
    TopologyOptions options;
};

Result<bool> RedisServiceTopology::Impl::add(std::string_view ns, std::string_view service) const {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    auto const own = context.current();
    std::string producer{service};
    if (ns != own) producer = std::string{ns} + "." + producer;
    if (producer == options.consumer) return false;
    auto const done = core->run([&] {
        return scripts.service_topology_add(own, options.consumer, producer, options.expire_after,
                                            core->deadline());
    });
    if (done.has_error()) return done.error();
    return true;
}

Result<Topology> RedisServiceTopology::Impl::read(std::string_view ns) const {
    validate_namespace(ns);
    std::string const space{ns};
    auto const response =
        core->run([&] { return scripts.service_topology_get(space, core->deadline()); });
    if (response.has_error()) return response.error();
    Topology topology;
    auto const reply = (*response)[0];
    for (auto at = reply.begin(); at != reply.end(); ++at) {
        std::string const consumer{(*at).text()};
        if (++at == reply.end()) break;
        if (!(*at).is_aggregate()) {
            // One that is damaged must not hide the others.
            core->log().write(
                LogLevel::warning, "left-out",
                "left out the consumer " + consumer + " in " + space + ": its key is no Hash");
            continue;
        }
        auto& producers = topology[consumer];
        for (auto const producer : *at) producers.emplace(producer.text());
    }
    return topology;
}

RedisServiceTopology::RedisServiceTopology(Client const& client, NamespacedContext context,
                                           TopologyOptions options)
    : impl_(std::make_shared<Impl>(client.core(), std::move(context), options)) {}

RedisServiceTopology::~RedisServiceTopology() = default;

void RedisServiceTopology::add_topology(std::string_view ns, std::string_view service) {
    (void)outcome(impl_->add(ns, service));
}
void RedisServiceTopology::add_topology(std::string_view ns, std::string_view service,
                                        std::error_code& error) {
    (void)outcome(impl_->add(ns, service), error);
}

Topology RedisServiceTopology::topology(std::string_view ns) { return outcome(impl_->read(ns)); }
Topology RedisServiceTopology::topology(std::string_view ns, std::error_code& error) {
    return outcome(impl_->read(ns), error);
}

}  // namespace rollcall::cosky

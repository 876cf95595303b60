#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "redis/request.hpp"
#include "registry/exchange.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_topology.hpp"

namespace rollcall::cosky {
namespace {

// What a process is called that is no instance of a service. Source: spec 10.
constexpr std::string_view no_service = "_Client_";

TopologyOptions checked(TopologyOptions options) {
    if (!options.consumer.empty()) validate_service(options.consumer);
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

    std::string consumer() const;
    Result<bool> add(std::string_view ns, std::string_view service) const;
    Result<Topology> read(std::string_view ns) const;
    Task<Result<Topology>> read_all(std::string ns, Deadline deadline) const;

    std::shared_ptr<redis::ClientCore> core;
    DiscoveryRedisScripts scripts;
    NamespacedContext context;
    TopologyOptions options;
};

std::string RedisServiceTopology::Impl::consumer() const {
    if (!options.consumer.empty()) return options.consumer;
    auto const instance = options.instance.current();
    return instance ? instance->service_name : std::string{no_service};
}

Result<bool> RedisServiceTopology::Impl::add(std::string_view ns, std::string_view service) const {
    validate_namespace(ns);
    validate_stored_name("service name", service);
    auto const own = context.current();
    std::string producer{service};
    if (ns != own) producer = std::string{ns} + "." + producer;
    auto const consuming = consumer();
    if (producer == consuming) return false;
    auto const done = core->run([&] {
        return scripts.service_topology_add(own, consuming, producer, options.expire_after,
                                            core->deadline());
    });
    if (done.has_error()) return done.error();
    return true;
}

/// With plain commands, so that it works where no script may run. A consumer whose producers cannot
/// be read is left out.
Task<Result<Topology>> RedisServiceTopology::Impl::read_all(std::string ns,
                                                            Deadline deadline) const {
    auto const index = DiscoveryKeyGenerator::topology_idx_key(ns);
    redis::Request request;
    redis::Response response;
    std::array<std::string_view, 1> const whole{index};
    request.push("HKEYS", whole);
    auto const outcome = co_await core->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "read " + index);
    std::vector<std::string> consumers;
    for (auto const consumer : response[0]) consumers.emplace_back(consumer.text());

    Topology topology;
    Reads reads;
    reads.items = consumers.size();
    reads.bytes = 1'024;
    reads.push = [&](redis::Request& asked, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::topology_key(ns, consumers[i]);
        std::array<std::string_view, 1> const arguments{key};
        asked.push("HKEYS", arguments);
    };
    reads.take = [&](redis::Response const& replies, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = replies[i - first];
            if (redis::is_wrong_type(reply)) {
                core->log().write(
                    LogLevel::warning, "left-out",
                    "left out the consumer " + consumers[i] + " in " + ns + ": its key is no Hash");
                continue;
            }
            if (reply.is_error()) return redis::failure_of(reply, "read " + consumers[i]);
            auto& producers = topology[consumers[i]];
            for (auto const producer : reply) producers.emplace(producer.text());
        }
        return std::nullopt;
    };
    auto const read = co_await exec_reads(core->session(), reads, deadline);
    if (read.has_error()) co_return read.error();
    co_return topology;
}

Result<Topology> RedisServiceTopology::Impl::read(std::string_view ns) const {
    validate_namespace(ns);
    std::string const space{ns};
    return core->run([&] { return read_all(space, core->deadline()); });
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

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "rollcall/client.hpp"
#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/cosky/service_instance_context.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Who calls whom: producers by consumer.
using Topology = std::map<std::string, std::set<std::string>>;

struct TopologyOptions {
    /// The service that this process is an instance of; empty: that of `instance`.
    std::string consumer = {};
    /// Edges of this consumer that were not added again for so long are removed at its next one.
    /// None, as in the design: they stay, with the time of their first mention.
    std::optional<std::chrono::seconds> expire_after = {};
    /// While there is none, edges are those of `_Client_`.
    ServiceInstanceContext instance = {};
};

/// Records which services use which. Source: spec 10.
class ServiceTopology {
public:
    virtual ~ServiceTopology() = default;

    /// This process uses `service` of the namespace `ns`. Nothing is recorded of a service's use of
    /// itself.
    virtual void add_topology(std::string_view ns, std::string_view service) = 0;
    virtual void add_topology(std::string_view ns, std::string_view service,
                              std::error_code& error) = 0;

    /// All edges that consumers of the namespace `ns` have recorded, also where nothing may be
    /// written. A consumer whose producers cannot be read is left out and logged.
    virtual Topology topology(std::string_view ns) = 0;
    virtual Topology topology(std::string_view ns, std::error_code& error) = 0;
};

/// Edges are written under the namespace of `context`, the consumer's. A producer of another
/// namespace is called `ns.service`.
///
/// Cost: `add_topology` is one script call, `topology` two round trips. Thread safety: all members,
/// from any thread.
class RedisServiceTopology final : public ServiceTopology {
public:
    explicit RedisServiceTopology(Client const& client,
                                  NamespacedContext context = NamespacedContext{},
                                  TopologyOptions options = {});
    ~RedisServiceTopology() override;

    void add_topology(std::string_view ns, std::string_view service) override;
    void add_topology(std::string_view ns, std::string_view service,
                      std::error_code& error) override;
    Topology topology(std::string_view ns) override;
    Topology topology(std::string_view ns, std::error_code& error) override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

using DiscoveredInstances = std::vector<DiscoveredInstance>;

/// Finds instances. Source: spec 8.1.
///
/// A failure is `rollcall::Error`, or the code given as last argument; it never looks like an empty
/// list. An instance that cannot be read is left out, counted and logged. Bad names throw
/// `std::invalid_argument`. Lists are ordered by name or id.
class ServiceDiscovery {
public:
    virtual ~ServiceDiscovery() = default;

    virtual std::vector<std::string> services(std::string_view ns) = 0;
    virtual std::vector<std::string> services(std::string_view ns, std::error_code& error) = 0;

    virtual DiscoveredInstances instances(std::string_view ns, std::string_view service) = 0;
    virtual DiscoveredInstances instances(std::string_view ns, std::string_view service,
                                          std::error_code& error) = 0;

    /// None: it is not listed under this service, or has expired.
    virtual std::optional<DiscoveredInstance> instance(std::string_view ns,
                                                       std::string_view service,
                                                       std::string_view instance_id) = 0;
    virtual std::optional<DiscoveredInstance> instance(std::string_view ns,
                                                       std::string_view service,
                                                       std::string_view instance_id,
                                                       std::error_code& error) = 0;

    /// When its lease ends: seconds since 1970 by Redis' clock; `TTL_AT_FOREVER` (−1) for what has
    /// none, −2 for what is not listed or has expired. Asks for the lease alone: of a key that
    /// describes no instance, too.
    virtual std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                                      std::string_view instance_id) = 0;
    virtual std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                                      std::string_view instance_id, std::error_code& error) = 0;
};

/// The discovery of the design, on Redis: every call asks.
///
/// Cost: `instances` is two round trips, whatever the number of instances; the other calls are one.
/// What is listed but has expired is removed and announced by one script call more, unless this
/// user may only read or Redis is a replica. Thread safety: all members, from any thread. Lifetime:
/// keeps what it needs of the client alive.
class RedisServiceDiscovery final : public ServiceDiscovery {
public:
    explicit RedisServiceDiscovery(Client const& client);
    ~RedisServiceDiscovery() override;

    std::vector<std::string> services(std::string_view ns) override;
    std::vector<std::string> services(std::string_view ns, std::error_code& error) override;
    DiscoveredInstances instances(std::string_view ns, std::string_view service) override;
    DiscoveredInstances instances(std::string_view ns, std::string_view service,
                                  std::error_code& error) override;
    std::optional<DiscoveredInstance> instance(std::string_view ns, std::string_view service,
                                               std::string_view instance_id) override;
    std::optional<DiscoveredInstance> instance(std::string_view ns, std::string_view service,
                                               std::string_view instance_id,
                                               std::error_code& error) override;
    std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                              std::string_view instance_id) override;
    std::int64_t instance_ttl(std::string_view ns, std::string_view service,
                              std::string_view instance_id, std::error_code& error) override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// How many instances a service had when they were last counted.
struct ServiceStat {
    std::string service_name = {};
    std::int32_t instance_count = 0;

    friend bool operator==(ServiceStat const&, ServiceStat const&) = default;
};

/// Counts instances, on request. Source: spec 10.
///
/// A service whose list of instances is none is left out and logged; it spoils no other's count.
/// Errors: `rollcall::Error`, or the code given as last argument; `std::invalid_argument` for bad
/// names.
class ServiceStatistic {
public:
    virtual ~ServiceStatistic() = default;

    /// Counts the living instances of all services of the namespace, or of one, and stores the
    /// counts. Removes and announces what has expired. A service that is not there is not stored.
    virtual void stat_service(std::string_view ns) = 0;
    virtual void stat_service(std::string_view ns, std::error_code& error) = 0;
    virtual void stat_service(std::string_view ns, std::string_view service) = 0;
    virtual void stat_service(std::string_view ns, std::string_view service,
                              std::error_code& error) = 0;

    /// The stored counts, ordered by name. A stored count that is no number is left out and logged.
    virtual std::vector<ServiceStat> service_stats(std::string_view ns) = 0;
    virtual std::vector<ServiceStat> service_stats(std::string_view ns, std::error_code& error) = 0;

    /// The living instances of all services, counted now, also where nothing may be written.
    /// Elsewhere it removes and announces what has expired.
    virtual std::int64_t instance_count(std::string_view ns) = 0;
    virtual std::int64_t instance_count(std::string_view ns, std::error_code& error) = 0;

    /// The services that have a stored count.
    virtual std::int64_t count_service(std::string_view ns) = 0;
    virtual std::int64_t count_service(std::string_view ns, std::error_code& error) = 0;
};

/// Cost: one script call or command each; `instance_count` three round trips for each 1,024
/// services, one more after something expired. Thread safety: all members, from any thread.
class RedisServiceStatistic final : public ServiceStatistic {
public:
    explicit RedisServiceStatistic(Client const& client);
    ~RedisServiceStatistic() override;

    void stat_service(std::string_view ns) override;
    void stat_service(std::string_view ns, std::error_code& error) override;
    void stat_service(std::string_view ns, std::string_view service) override;
    void stat_service(std::string_view ns, std::string_view service,
                      std::error_code& error) override;
    std::vector<ServiceStat> service_stats(std::string_view ns) override;
    std::vector<ServiceStat> service_stats(std::string_view ns, std::error_code& error) override;
    std::int64_t instance_count(std::string_view ns) override;
    std::int64_t instance_count(std::string_view ns, std::error_code& error) override;
    std::int64_t count_service(std::string_view ns) override;
    std::int64_t count_service(std::string_view ns, std::error_code& error) override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

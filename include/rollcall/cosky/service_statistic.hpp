#pragma once

#include <chrono>
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

struct StatisticOptions {
    /// Between two counts of one service, and from an event to the count: what happens meanwhile is
    /// counted together. 1 ms to one hour.
    std::chrono::milliseconds pause{200};
};

/// Counts also by itself where it was started: what an event concerns, and everything when events
/// may have been missed.
///
/// Cost: one script call or command each; `instance_count` three round trips for each 1,024
/// services, one more after something expired. A count that is caused by an event: one script call.
/// Thread safety: all members, from any thread.
class RedisServiceStatistic final : public ServiceStatistic {
public:
    /// Errors: `std::invalid_argument` for bad options.
    explicit RedisServiceStatistic(Client const& client, StatisticOptions options = {});
    /// Stops.
    ~RedisServiceStatistic() override;
    RedisServiceStatistic(RedisServiceStatistic const&) = delete;
    RedisServiceStatistic& operator=(RedisServiceStatistic const&) = delete;

    /// Listens to the instances of the namespace from now on, also while Redis cannot be reached.
    /// Renewals count nothing. A count that fails is logged and tried again. Idempotent.
    ///
    /// Differs from the design, where the first `stat_service` of a namespace begins to listen, for
    /// ever (spec 14.2, number 53).
    /// Errors: `errc::closed`, `errc::overloaded`; `std::invalid_argument`.
    void start(std::string_view ns);
    /// When it returns, nothing is counted by itself any more: in one namespace, or in all.
    /// Idempotent.
    void stop(std::string_view ns) noexcept;
    void stop() noexcept;

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

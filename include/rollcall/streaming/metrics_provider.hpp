#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rollcall/client.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/streaming/config.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What is measured of an instance, by name.
using Metrics = std::map<std::string, double, std::less<>>;

/// Knows how instances are doing. Source: seed 000, "Load Balancing".
class MetricsProvider {
public:
    virtual ~MetricsProvider() = default;

    /// Empty when nothing is known.
    virtual Metrics metrics(std::string_view service_name, std::string_view instance_id) = 0;

    /// The same of many at once: `values` become those of the metrics `names` of each of
    /// `candidates`, one candidate after the other; NaN for what is not known. Unless overridden it
    /// asks `metrics` for each.
    virtual void read(std::string_view service_name, std::span<ServiceInstance const> candidates,
                      std::span<std::string_view const> names, std::span<double> values);
};

struct RedisMetricsOptions {
    /// How long an answer is taken for what is true, also that there is none. At least 1 ms.
    std::chrono::milliseconds cache_for{500};
    /// How long a choice waits for Redis. At least 1 ms.
    std::chrono::milliseconds patience{200};
    /// That are remembered. At least 1.
    std::size_t max_instances = 10'000;
};

/// Reads the field `metrics` of instances, a JSON object of numbers, also as texts; whatever else
/// is in it is passed over. Source: spec 11.6.
///
/// No field, no JSON object, or a Redis that does not answer within `patience`: nothing is known,
/// and that is remembered, too.
///
/// Cost: nothing that is remembered; all else one round trip for up to 256 candidates. Thread
/// safety: all members. Lifetime: keeps what it needs of the client alive. Fork: a child knows
/// nothing.
class RedisMetricsProvider final : public MetricsProvider {
public:
    /// Errors: `std::invalid_argument` for a bad option.
    explicit RedisMetricsProvider(Client const& client, BaseRedisConfig const& config = {},
                                  RedisMetricsOptions options = {});
    ~RedisMetricsProvider() override;
    RedisMetricsProvider(RedisMetricsProvider const&) = delete;
    RedisMetricsProvider& operator=(RedisMetricsProvider const&) = delete;

    Metrics metrics(std::string_view service_name, std::string_view instance_id) override;
    void read(std::string_view service_name, std::span<ServiceInstance const> candidates,
              std::span<std::string_view const> names, std::span<double> values) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "rollcall/client.hpp"
#include "rollcall/streaming/config.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Is told what became of calls to instances. Source: spec 13.4, 13.5.
class ClientMetricsReporter {
public:
    virtual ~ClientMetricsReporter() = default;

    virtual void increment_inflight(std::string_view service_name,
                                    std::string_view instance_id) = 0;
    virtual void decrement_inflight(std::string_view service_name,
                                    std::string_view instance_id) = 0;
    virtual void record_latency(std::string_view service_name, std::string_view instance_id,
                                std::chrono::milliseconds latency) = 0;
    virtual void record_outcome(std::string_view service_name, std::string_view instance_id,
                                bool success) = 0;

    /// All that the end of a call changes: latency, outcome, one less in flight.
    virtual void record_end(std::string_view service_name, std::string_view instance_id,
                            std::chrono::milliseconds latency, bool success) {
        record_latency(service_name, instance_id, latency);
        record_outcome(service_name, instance_id, success);
        decrement_inflight(service_name, instance_id);
    }
};

struct ClientMetricsReporterConfig : BaseRedisConfig {
    /// How much the last call counts in the error rate, 0 to 1; clamped, and the default where it
    /// is no number.
    double error_rate_alpha = 0.2;
    /// Nothing is written of what is not registered: no Hash without an instance appears. False: as
    /// the design's program.
    bool registered_only = true;
};

/// Keeps three figures in the `metrics` of an instance, for filters and balancers of all clients:
/// `clientInflight`, `clientLatencyMs` (of the last call) and `clientErrorRate` (percent, an
/// exponential average). Everything else in that document stays as it is, byte for byte.
///
/// Cost: one script call each, which is waited for; it is one for `record_end`, too.
/// Errors: none are thrown, they are logged. A document that is no JSON object, or larger than a
/// mebibyte, is left alone.
/// Thread safety: all members, from any thread, and any number of processes: no update is lost.
class RedisClientMetricsReporter final : public ClientMetricsReporter {
public:
    /// Errors: `std::invalid_argument` for a prefix that `RegistryKeys::validated_prefix` refuses.
    explicit RedisClientMetricsReporter(Client const& client,
                                        ClientMetricsReporterConfig config = {});
    ~RedisClientMetricsReporter() override;

    void increment_inflight(std::string_view service_name, std::string_view instance_id) override;
    /// Not below zero.
    void decrement_inflight(std::string_view service_name, std::string_view instance_id) override;
    /// A negative one counts as zero.
    void record_latency(std::string_view service_name, std::string_view instance_id,
                        std::chrono::milliseconds latency) override;
    void record_outcome(std::string_view service_name, std::string_view instance_id,
                        bool success) override;
    void record_end(std::string_view service_name, std::string_view instance_id,
                    std::chrono::milliseconds latency, bool success) override;

    ClientMetricsReporterConfig const& config() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

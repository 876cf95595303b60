#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/circuit_breaker.hpp"
#include "rollcall/streaming/client_metrics_reporter.hpp"
#include "rollcall/streaming/client_selector.hpp"
#include "rollcall/streaming/filter_builder.hpp"
#include "rollcall/streaming/instance_source.hpp"
#include "rollcall/streaming/load_balancer.hpp"
#include "rollcall/streaming/retry_policy.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Where an invoker takes its time from, and how it lets some pass.
class InvokerClock {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    virtual ~InvokerClock() = default;
    virtual TimePoint now() = 0;
    /// Returns at `end`, or sooner when a stop is requested.
    virtual void wait(TimePoint end, std::stop_token const& stop) = 0;
};

struct InvokerOptions {
    RetryPolicy retry_policy = RetryPolicy{};
    CircuitBreakerConfig circuit_breaker = {};  ///< One of these for each instance.
    ClientSelectorConfig selector = {};
    /// Beyond it the breaker that was not used for the longest is forgotten; at least 1.
    std::size_t max_circuit_breakers = 10'000;
    /// Is told of each call, on the thread that makes it; may be none.
    std::shared_ptr<ClientMetricsReporter> reporter = {};
    /// None: the steady clock.
    std::shared_ptr<InvokerClock> clock = {};
};

/// What holds for one invocation.
struct InvokeOptions {
    /// For balancers that send equal keys to the same instance; see `ChooseOptions`.
    std::optional<std::string_view> key = {};
    /// No attempt begins at or after this time, and no pause is begun that would end there. A call
    /// that runs is not cut short.
    std::optional<InvokerClock::TimePoint> deadline = {};
    /// Ends a pause at once; no attempt begins after it.
    std::stop_token stop = {};
};

struct InvokerCounters {
    std::uint64_t attempts = 0;
    std::uint64_t successes = 0;
    /// Attempts that found no instance, and calls that failed.
    std::uint64_t failures = 0;
    std::uint64_t retries = 0;        ///< Calls that failed and were followed by another attempt.
    std::uint64_t cb_open_skips = 0;  ///< Attempts that found open breakers only.

    friend bool operator==(InvokerCounters const&, InvokerCounters const&) = default;
};

struct InvokerMetrics {
    InvokerCounters total = {};
    /// By name, of the first 10,000 services.
    std::map<std::string, InvokerCounters, std::less<>> services = {};
};

/// Calls instances of a service until a call succeeds: chooses one, keeps off those that fail, and
/// tries again after a pause. Source: spec 13.4.
///
/// An instance whose breaker is open is not chosen while there is another one. A call has failed
/// when it throws, whatever it throws, save `errc::cancelled` and `std::errc::operation_canceled`
/// and what it throws after a stop was requested: these are handed on at once and say nothing of
/// the instance.
///
/// Cost: of each attempt a list by filters, and two calls of the reporter, if there is one.
/// Errors, after the last attempt: what the call threw, or `rollcall::Error` with
/// `errc::no_instance` or `errc::circuit_open`, or that of the source. At once: a failure of the
/// source that is not transient, `errc::cancelled` after a stop, and `errc::timeout` when the
/// deadline had passed before the first attempt.
/// Thread safety: all members, from any thread, if source, balancer, reporter and clock are. Calls
/// run on the thread that invokes.
/// Lifetime: the source outlives it.
class ClientInvoker {
public:
    /// Errors: `std::invalid_argument` for no balancer.
    ClientInvoker(InstanceSource& source, std::shared_ptr<LoadBalancer> balancer,
                  InvokerOptions options = {});
    ~ClientInvoker();
    ClientInvoker(ClientInvoker&&) noexcept;
    ClientInvoker& operator=(ClientInvoker&&) noexcept;

    /// What `call`, given an instance, returns. It may be called several times.
    template <class Call>
    std::invoke_result_t<Call&, ServiceInstance const&> invoke(std::string_view service_name,
                                                               Filters const& metadata,
                                                               Filters const& metrics, Call&& call,
                                                               InvokeOptions const& options = {}) {
        using Result = std::invoke_result_t<Call&, ServiceInstance const&>;
        if constexpr (std::is_void_v<Result>) {
            run(service_name, metadata, metrics, std::ref(call), options);
        } else {
            static_assert(!std::is_reference_v<Result>, "a call returns a value or nothing");
            std::optional<Result> result;
            auto const keep = [&](ServiceInstance const& instance) {
                result.emplace(std::invoke(call, instance));
            };
            run(service_name, metadata, metrics, keep, options);
            return *std::move(result);
        }
    }

    /// Without filters.
    template <class Call>
    std::invoke_result_t<Call&, ServiceInstance const&> invoke(std::string_view service_name,
                                                               Call&& call,
                                                               InvokeOptions const& options = {}) {
        return invoke(service_name, Filters{}, Filters{}, std::forward<Call>(call), options);
    }

    InvokerMetrics metrics() const;
    /// How many breakers there are.
    std::size_t circuit_breaker_count() const;

private:
    using AnyCall = std::function<void(ServiceInstance const&)>;

    void run(std::string_view service_name, Filters const& metadata, Filters const& metrics,
             AnyCall const& call, InvokeOptions const& options);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

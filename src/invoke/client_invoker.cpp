#include "rollcall/streaming/client_invoker.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "core/text.hpp"
#include "invoke/circuit_breakers.hpp"
#include "invoke/invocation.hpp"
#include "invoke/invoker_tally.hpp"
#include "invoke/unwinding.hpp"

#include "rollcall/error.hpp"
#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {
namespace {

using std::chrono::milliseconds;
using Counters = InvokerCounters;
using TimePoint = InvokerClock::TimePoint;

class SteadyClock final : public InvokerClock {
public:
    TimePoint now() override { return std::chrono::steady_clock::now(); }
    void wait(TimePoint end, std::stop_token const& stop) override {
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock{mutex};
        never.wait_until(lock, stop, end, [] { return false; });
    }
};

/// The end of a call that tells nothing of the instance.
bool is_cancellation(std::exception_ptr const& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (std::system_error const& error) {
        return error.code() == errc::cancelled || error.code() == std::errc::operation_canceled;
    } catch (...) {
        return false;
    }
}

std::exception_ptr failure(errc code, std::string detail) {
    return std::make_exception_ptr(Error{code, std::move(detail)});
}

/// Reports one call: that it began, and at the latest when it is destroyed that it ended.
class ReportedCall {
public:
    ReportedCall(ClientMetricsReporter* reporter, std::string_view service, std::string_view id)
        : reporter_(reporter), service_(service), id_(id) {
        if (!reporter_) return;
        quietly([&] { reporter_->increment_inflight(service_, id_); });
    }
    ~ReportedCall() {
        if (!reporter_) return;
        quietly([&] { reporter_->decrement_inflight(service_, id_); });
    }
    ReportedCall(ReportedCall const&) = delete;
    ReportedCall& operator=(ReportedCall const&) = delete;

    void end(TimePoint::duration took, bool success) {
        auto* const reporter = std::exchange(reporter_, nullptr);
        if (!reporter) return;
        auto const latency = std::chrono::duration_cast<milliseconds>(took);
        quietly([&] { reporter->record_end(service_, id_, latency, success); });
    }

private:
    ClientMetricsReporter* reporter_;
    std::string_view service_;
    std::string_view id_;
};

/// One call that a breaker allowed: its permit goes back unless an outcome was told.
class Trial {
public:
    Trial(CircuitBreaker& breaker, CircuitBreaker::Permit permit)
        : breaker_(breaker), permit_(permit) {}
    ~Trial() {
        if (!told_) breaker_.release(permit_);
    }
    Trial(Trial const&) = delete;
    Trial& operator=(Trial const&) = delete;

    void end(bool success, TimePoint now) {
        told_ = true;
        if (success) {
            breaker_.on_success(now);
        } else {
            breaker_.on_failure(now);
        }
    }

private:
    CircuitBreaker& breaker_;
    CircuitBreaker::Permit permit_;
    bool told_ = false;
};

std::shared_ptr<LoadBalancer> checked(std::shared_ptr<LoadBalancer> balancer) {
    if (!balancer) refuse("balancer", "null", "must be one");
    return balancer;
}

/// What an invoker consists of.
struct Parts {
    Parts(InstanceSource& source, std::shared_ptr<LoadBalancer> with, InvokerOptions given)
        : selector(source, given.selector),
          balancer(checked(std::move(with))),
          policy(std::move(given.retry_policy)),
          breakers(given.circuit_breaker, given.max_circuit_breakers),
          reporter(std::move(given.reporter)),
          clock(given.clock ? std::move(given.clock) : std::make_shared<SteadyClock>()) {}

    ClientSelector selector;
    std::shared_ptr<LoadBalancer> balancer;
    RetryPolicy policy;
    CircuitBreakers breakers;
    std::shared_ptr<ClientMetricsReporter> reporter;
    std::shared_ptr<InvokerClock> clock;
    InvokerTally tally;
};

/// What one invocation is about.
struct Request {
    std::string_view service;
    Filters const& metadata;
    Filters const& metrics;
    std::function<void(ServiceInstance const&)> const& call;
    InvokeOptions const& options;
};

/// Carries out what an `Invocation` decides.
class Run {
public:
    Run(Parts& parts, Request const& request)
        : parts_(parts),
          request_(request),
          stored_name_(RegistryKeys::sanitize_service_name(request.service)),
          invocation_(parts.policy, request.options.deadline) {}

    void to_end() {
        using enum Invocation::Next;
        for (auto next = invocation_.begin(now()); next != end;) {
            throw_if_stopped();
            if (next == attempt) {
                next = try_once();
            } else {
                parts_.clock->wait(invocation_.wait_end(), request_.options.stop);
                next = invocation_.waited(now());
            }
        }
        if (invocation_.attempts() == 0) {
            throw Error{errc::timeout, "the deadline had passed before the first attempt"};
        }
        if (last_failure_) std::rethrow_exception(last_failure_);
    }

private:
    TimePoint now() const { return parts_.clock->now(); }
    void count(std::uint64_t Counters::* counter) { parts_.tally.add(request_.service, counter); }

    void throw_if_stopped() const {
        if (!request_.options.stop.stop_requested()) return;
        throw Error{errc::cancelled, "a stop was requested"};
    }

    Invocation::Next try_once() {
        count(&Counters::attempts);
        Instances candidates;
        try {
            candidates =
                parts_.selector.candidates(request_.service, request_.metadata, request_.metrics);
        } catch (Error const& error) {
            if (!is_transient(error.code())) throw;
            return missed(&Counters::failures, std::current_exception());
        }
        auto const* const instance = choose(candidates);
        if (!instance) {
            return missed(&Counters::failures,
                          failure(errc::no_instance, "No available instances for service=" +
                                                         std::string{request_.service}));
        }
        auto const breaker = parts_.breakers.of(stored_name_, instance->instance_id);
        auto const permit = breaker->acquire(now());
        if (!permit) {
            return missed(&Counters::cb_open_skips,
                          failure(errc::circuit_open, "Circuit breaker open for " + stored_name_ +
                                                          ":" + instance->instance_id));
        }
        Trial trial{*breaker, *permit};
        return call(*instance, trial);
    }

    /// While all are denied, one of those: it is the breaker that says so, and when that ends.
    ServiceInstance const* choose(Instances const& candidates) const {
        if (candidates.empty()) return nullptr;
        auto const denying = parts_.breakers.denying(stored_name_, now());
        std::vector<std::string_view> const exclude{denying.begin(), denying.end()};
        ChooseOptions options;
        options.key = request_.options.key;
        options.exclude = exclude;
        auto const* const chosen = parts_.balancer->choose(request_.service, candidates, options);
        if (chosen || exclude.empty()) return chosen;
        options.exclude = {};
        return parts_.balancer->choose(request_.service, candidates, options);
    }

    Invocation::Next missed(std::uint64_t Counters::* counter, std::exception_ptr why) {
        count(counter);
        last_failure_ = std::move(why);
        return invocation_.failed(now());
    }

    Invocation::Next call(ServiceInstance const& instance, Trial& trial) {
        ReportedCall report{parts_.reporter.get(), stored_name_, instance.instance_id};
        auto const begun = now();
        auto thrown = caught([&] { request_.call(instance); });
        if (thrown && (request_.options.stop.stop_requested() || is_cancellation(thrown))) {
            std::rethrow_exception(std::move(thrown));
        }
        auto const ended = now();
        trial.end(!thrown, ended);
        report.end(ended - begun, !thrown);
        if (!thrown) {
            count(&Counters::successes);
            last_failure_ = nullptr;
            return invocation_.succeeded();
        }
        auto const next = missed(&Counters::failures, std::move(thrown));
        if (next == Invocation::Next::wait) count(&Counters::retries);
        return next;
    }

    Parts& parts_;
    Request const& request_;
    std::string const stored_name_;
    Invocation invocation_;
    std::exception_ptr last_failure_;
};

}  // namespace

struct ClientInvoker::Impl : Parts {
    using Parts::Parts;
};

ClientInvoker::ClientInvoker(InstanceSource& source, std::shared_ptr<LoadBalancer> balancer,
                             InvokerOptions options)
    : impl_(std::make_unique<Impl>(source, std::move(balancer), std::move(options))) {}
ClientInvoker::~ClientInvoker() = default;
ClientInvoker::ClientInvoker(ClientInvoker&&) noexcept = default;
ClientInvoker& ClientInvoker::operator=(ClientInvoker&&) noexcept = default;

void ClientInvoker::run(std::string_view service_name, Filters const& metadata,
                        Filters const& metrics, AnyCall const& call, InvokeOptions const& options) {
    Request const request{service_name, metadata, metrics, call, options};
    Run{*impl_, request}.to_end();
}

InvokerMetrics ClientInvoker::metrics() const { return impl_->tally.snapshot(); }

std::size_t ClientInvoker::circuit_breaker_count() const { return impl_->breakers.size(); }

}  // namespace rollcall::streaming

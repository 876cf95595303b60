#include "rollcall/streaming/health_checker.hpp"

#include <exception>
#include <mutex>
#include <utility>

#include "core/text.hpp"
#include "health/addresses.hpp"
#include "health/http_exchange.hpp"
#include "health/probe.hpp"
#include "health/target.hpp"

namespace rollcall::streaming {
namespace {

using health::Probe;
using health::Question;

/// `ask` adds to the probe what is asked once connected.
template <class Ask>
HealthCheckResult check_target(ServiceInstance const& instance, std::chrono::milliseconds limit,
                               Ask const& ask) {
    auto target = health::target_of(instance);
    HealthCheckResult unreachable{.reason = std::move(target.failure)};
    if (!unreachable.reason.empty()) return unreachable;
    Probe probe{health::addresses_of(target.host, limit, unreachable.reason),
                static_cast<std::uint16_t>(target.port),
                limit,
                {}};
    if (!unreachable.reason.empty()) return unreachable;
    ask(probe);
    return health::perform_here(probe);
}

HealthCheckResult connect_to(ServiceInstance const& instance, std::chrono::milliseconds limit) {
    return check_target(instance, limit, [](Probe const&) {});
}

std::shared_ptr<asio::ssl::context> make_tls(HealthCheckerOptions const& options) {
    auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    if (options.ca_file.empty()) {
        tls->set_default_verify_paths();
    } else {
        boost::system::error_code error;
        tls->load_verify_file(options.ca_file, error);
        if (error) refuse("ca_file", options.ca_file, "must be a file of certificates in PEM");
    }
    return tls;
}

}  // namespace

HealthChecker::~HealthChecker() = default;

struct HttpHealthChecker::Impl {
    HealthCheckerOptions options;
    std::string endpoint;
    std::once_flag tls_made = {};
    std::shared_ptr<asio::ssl::context> tls_context = {};  // Guarded by the flag.

    /// Reading the authorities takes a while, so only where HTTPS is used.
    std::shared_ptr<asio::ssl::context> const& tls() {
        std::call_once(tls_made, [this] { tls_context = make_tls(options); });
        return tls_context;
    }

    void ask(Question question, std::string const& host, Probe& probe) {
        probe.question.emplace(health::HttpQuestion{
            host, endpoint, question == Question::https ? tls() : nullptr, options.read_timeout,
            options.verify_certificate, options.tcp_fallback});
    }
};

HttpHealthChecker::HttpHealthChecker(HealthCheckerOptions options, std::string endpoint)
    : impl_(new Impl{health::within_range(std::move(options)), std::move(endpoint)}) {
    health::check_endpoint(impl_->endpoint);
    if (!impl_->options.ca_file.empty()) impl_->tls();  // A wrong file is noticed at once.
}

HttpHealthChecker::~HttpHealthChecker() = default;

HealthCheckResult HttpHealthChecker::check(ServiceInstance const& instance) {
    auto const question = health::question_for(instance.scheme);
    if (question == Question::connect) refuse("scheme", instance.scheme, "must be http or https");
    return check_target(instance, impl_->options.connect_timeout,
                        [&](Probe& probe) { impl_->ask(question, instance.host, probe); });
}

TcpHealthChecker::TcpHealthChecker(HealthCheckerOptions options)
    : options_(health::within_range(std::move(options))) {}

HealthCheckResult TcpHealthChecker::check(ServiceInstance const& instance) {
    auto const scheme = lower_case(instance.scheme);
    if (scheme != "tcp" && scheme != "udp") {
        refuse("scheme", instance.scheme, "must be tcp or udp");
    }
    return connect_to(instance, options_.connect_timeout);
}

StandardHealthChecker::StandardHealthChecker(HealthCheckerOptions options)
    : http_(options), options_(health::within_range(std::move(options))) {}

HealthCheckResult StandardHealthChecker::check(ServiceInstance const& instance) {
    if (health::question_for(instance.scheme) != Question::connect) return http_.check(instance);
    return connect_to(instance, options_.connect_timeout);
}

HealthCheckResult CustomHealthChecker::check(ServiceInstance const& instance) {
    constexpr std::chrono::milliseconds limit{3000};
    using Clock = std::chrono::steady_clock;
    auto const begun = Clock::now();
    auto result = connect_to(instance, limit);
    if (!result.healthy) return result;
    try {
        result.healthy = do_check(instance);
        if (!result.healthy) result.reason = "do_check said no";
    } catch (std::exception const& error) {
        result.healthy = false;
        result.reason = joined({"do_check threw: ", error.what()});
    }
    result.latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    return result;
}

}  // namespace rollcall::streaming

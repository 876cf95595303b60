#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/task.hpp"

#include "rollcall/streaming/health_checker.hpp"

namespace rollcall::health {

using streaming::HealthCheckerOptions;
using streaming::HealthCheckResult;

/// What is asked over HTTP once connected.
struct HttpQuestion {
    std::string host;  ///< As the instance names it: for the request and the certificate.
    std::string endpoint;
    std::shared_ptr<asio::ssl::context> tls;  ///< Null: without TLS.
    std::chrono::milliseconds limit;          ///< For TLS, request and status line together.
    bool verify_certificate;
    bool tcp_fallback;
};

/// One probe, all of it known before it begins: looking up a name cannot be given up in time, so
/// that is done before.
struct Probe {
    std::vector<asio::ip::address> addresses;
    std::uint16_t port;
    std::chrono::milliseconds connect_limit;
    std::optional<HttpQuestion> question;  ///< None: connecting is enough.
};

/// Carries out `probe`; many may run on one thread. `probe` and `result` outlive it.
///
/// Ends within the limits of `probe`: twice that for connecting and once that for the question.
Task<void> perform(Probe const& probe, HealthCheckResult& result);

/// The same on the calling thread.
HealthCheckResult perform_here(Probe const& probe);

}  // namespace rollcall::health

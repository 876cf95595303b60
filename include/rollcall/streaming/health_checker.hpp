#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What a probe found.
struct HealthCheckResult {
    bool healthy = false;
    /// Why it is not healthy, or what failed before the fall-back to TCP found it healthy; else
    /// empty. May hold text of the system and of the instance: not for remote users.
    std::string reason = {};
    std::chrono::microseconds latency{};  ///< From the first connection attempt to the verdict.

    friend bool operator==(HealthCheckResult const&, HealthCheckResult const&) = default;
};

/// How long a probe may take, and how it asks. Times of 0 and below count as 5 seconds, those above
/// an hour as an hour.
struct HealthCheckerOptions {
    std::chrono::milliseconds connect_timeout{5000};  ///< Also for finding the host's addresses.
    /// For TLS, request and status line together, however slowly they come.
    std::chrono::milliseconds read_timeout{5000};
    /// Whether an HTTP request that fails (refused, timeout, TLS, connection closed) is followed by
    /// a TCP connect, whose outcome counts then. Any answer, however bad, is no failed request.
    bool tcp_fallback = true;
    /// Whether HTTPS needs a certificate of the instance's host, signed by a known authority.
    bool verify_certificate = true;
    std::string ca_file = {};  ///< PEM, authorities to trust; empty: those of the system.

    friend bool operator==(HealthCheckerOptions const&, HealthCheckerOptions const&) = default;
};

/// Says whether an instance can serve, by asking it. Source: spec 10.
///
/// What is asked is the instance's own host and port (0: the default of its protocol), whatever its
/// metadata say; redirects are not followed. A host that is a name is looked up each time.
///
/// Errors: that an instance cannot be reached is no error, but a result.
/// Thread safety: the checkers of this header, from any thread.
class HealthChecker {
public:
    virtual ~HealthChecker();

    /// Waits for the verdict: no longer than twice `connect_timeout` for finding and reaching the
    /// instance, and for HTTP `read_timeout` and another `connect_timeout`.
    ///
    /// Errors: `std::invalid_argument` for a protocol that the checker is not for.
    virtual HealthCheckResult check(ServiceInstance const& instance) = 0;

protected:
    HealthChecker() = default;
    HealthChecker(HealthChecker const&) = default;
    HealthChecker& operator=(HealthChecker const&) = default;
};

/// For HTTP and HTTPS: `GET {uri}/health`. A status from 200 to 399 is healthy. No more than 16 KiB
/// of the answer are read.
class HttpHealthChecker : public HealthChecker {
public:
    /// Errors: `std::invalid_argument` unless `endpoint` begins with `/` and is printable ASCII
    /// without space or `#`, 2,000 bytes at most, and `ca_file` can be read.
    explicit HttpHealthChecker(HealthCheckerOptions options = {}, std::string endpoint = "/health");
    ~HttpHealthChecker() override;

    HealthCheckResult check(ServiceInstance const& instance) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// For TCP and UDP: healthy when the port accepts a TCP connection, for UDP, too.
class TcpHealthChecker : public HealthChecker {
public:
    explicit TcpHealthChecker(HealthCheckerOptions options = {});

    HealthCheckResult check(ServiceInstance const& instance) override;

private:
    HealthCheckerOptions options_;
};

/// For every protocol: HTTP and HTTPS as `HttpHealthChecker` does, all others by a TCP connect.
class StandardHealthChecker : public HealthChecker {
public:
    explicit StandardHealthChecker(HealthCheckerOptions options = {});

    HealthCheckResult check(ServiceInstance const& instance) override;

private:
    HttpHealthChecker http_;
    HealthCheckerOptions options_;
};

/// The base of checkers of one's own, for every protocol: a TCP connect within three seconds, and
/// if that succeeds `do_check`.
class CustomHealthChecker : public HealthChecker {
public:
    HealthCheckResult check(ServiceInstance const& instance) final;

protected:
    /// Whether `instance`, which accepts connections, is healthy. What derives from
    /// `std::exception` counts as unhealthy, with its text as reason. Has to end by itself.
    virtual bool do_check(ServiceInstance const& instance) = 0;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#pragma once

#include <functional>
#include <memory>

#include "rollcall/cosky/config.hpp"
#include "rollcall/cosky/service_registry.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Keeps alive what a registry has registered as ephemeral, in rounds on a thread of its own.
/// Source: seed 003, "RenewInstanceService".
///
/// Also sweeps the namespaces that it renews in, beside the rounds, as one of all processes that
/// do: see `RenewProperties::sweep_period`.
///
/// Rounds never overlap: one that takes longer than the period delays the next. A failure concerns
/// its instance only.
/// Thread safety: all members from any thread, destruction aside.
/// Lifetime: the registry must outlive it and its rounds. Destroying it stops it.
/// Fork: a child has no rounds: it is not running there and cannot be started; destroying it
/// touches nothing.
class RenewInstanceService {
public:
    /// Called for each instance of a round that was renewed or registered again, on the thread of
    /// the rounds; no more once the service has been stopped. What it throws is caught. It may
    /// start and stop the service.
    using Hook = std::function<void(RenewedInstance const&)>;

    /// Errors: `std::invalid_argument` for a period that is not positive or not shorter than the
    /// registry's `instance_ttl`, or a negative delay.
    explicit RenewInstanceService(ServiceRegistry& registry, RenewProperties properties = {},
                                  Hook hook = {});
    ~RenewInstanceService();
    RenewInstanceService(RenewInstanceService const&) = delete;
    RenewInstanceService& operator=(RenewInstanceService const&) = delete;

    /// Idempotent; may follow a stop. Errors: `std::system_error` when the system has no thread
    /// left; it is not running then.
    void start();
    /// Waits for a round that is going on, except in the hook and on the client's I/O thread (in a
    /// log callback): there the round ends by itself. Idempotent; deregisters nothing.
    void stop() noexcept;
    bool is_running() const noexcept;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/streaming/config.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What a registration or deregistration found and did.
struct ChangeResult {
    bool existed = false;          ///< The instance was there before.
    bool announced = true;         ///< Subscribers were told; false when the user may not publish.
    std::string instance_id = {};  ///< As it is stored: sanitised, made of the address if empty.
};

/// What became of one heartbeat.
enum class HeartbeatResult {
    not_due,           ///< Sent too soon after the last one; nothing was written.
    alive,             ///< Written; without a changed description that is invalid, which is logged.
    metadata_updated,  ///< Written, with a changed description; UPDATED was published.
    reregistered,      ///< The instance was gone and has been registered again.
    gone,              ///< The instance is not there and is not ours to register, or must not be.
    failed,            ///< Bad names, or Redis refused it or did not answer; logged.
    not_running,       ///< The provider is not started; nothing was sent.
};

/// Registers instances and keeps them alive. Source: seed 000, "Interface Design".
///
/// Every operation that can fail for operational reasons throws `rollcall::Error`, or, given a
/// `std::error_code&`, reports through it. Bad arguments throw `std::invalid_argument` either way.
/// An instance without id is the one whose id registration makes of its address, in all calls.
class ServiceProvider {
public:
    virtual ~ServiceProvider() = default;

    virtual ChangeResult register_instance(ServiceInstance const& instance) = 0;
    virtual ChangeResult register_instance(ServiceInstance const& instance,
                                           std::error_code& error) = 0;

    /// Names are enough. What else is given is for the announcement, which leaves it out when no
    /// registration would accept it.
    virtual ChangeResult deregister_instance(ServiceInstance const& instance) = 0;
    virtual ChangeResult deregister_instance(ServiceInstance const& instance,
                                             std::error_code& error) = 0;

    /// Never throws for an operational failure: it is logged and reported in the result.
    virtual HeartbeatResult send_heartbeat(ServiceInstance const& instance) = 0;

    /// One result for each instance, in order; a failure of one does not touch the others.
    virtual std::vector<HeartbeatResult> batch_send_heartbeats(
        std::span<ServiceInstance const> instances) = 0;

    virtual void start() = 0;  ///< Idempotent.
    virtual void stop() = 0;   ///< Idempotent; deregisters nothing; may be started again.
    virtual bool is_running() const noexcept = 0;
};

/// The provider of the design, on Redis.
///
/// Cost: registration and deregistration are one script call that also publishes; a batch of
/// heartbeats is one round trip for each 16,384 of them or 2 MiB of descriptions, a script call for
/// each 128 instances of a service, and one more round trip where some are registered again. All of
/// a batch share one request timeout: what it leaves no time for fails.
/// Errors: `std::logic_error` from registration and deregistration while not running;
/// `std::invalid_argument` at construction for what `validate` refuses of the configurations.
/// Thread safety: all members, from any thread. Registrations and deregistrations of one instance,
/// those of a heartbeat included, are carried out one after the other, in the order of the calls.
/// Starting and stopping may also be done in the client's log callback, where a stop ends the
/// housekeeping without waiting for its end.
/// Lifetime: keeps what it needs of the client alive. Destroying it stops it.
class RedisServiceProvider final : public ServiceProvider {
public:
    explicit RedisServiceProvider(Client const& client, ServiceProviderConfig config = {},
                                  HeartbeatConfig heartbeat = {});
    ~RedisServiceProvider() override;

    ChangeResult register_instance(ServiceInstance const& instance) override;
    ChangeResult register_instance(ServiceInstance const& instance,
                                   std::error_code& error) override;
    ChangeResult deregister_instance(ServiceInstance const& instance) override;
    ChangeResult deregister_instance(ServiceInstance const& instance,
                                     std::error_code& error) override;
    HeartbeatResult send_heartbeat(ServiceInstance const& instance) override;
    std::vector<HeartbeatResult> batch_send_heartbeats(
        std::span<ServiceInstance const> instances) override;
    void start() override;
    void stop() override;
    bool is_running() const noexcept override;

    ServiceProviderConfig const& config() const noexcept;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

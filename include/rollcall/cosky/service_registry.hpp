#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/cosky/config.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// What became of one renewal in a round.
enum class Renewal {
    renewed,           ///< Its lease begins again.
    registered_again,  ///< It was gone and has been registered with its current description.
    reclaimed,         ///< Somebody had made it persistent; registered again as ephemeral.
    released,          ///< Somebody had made it persistent; left to them, renewed no more.
    removed,           ///< Deregistered here while the round was on its way.
    failed,            ///< No answer, or refused; logged, and tried again in the next round.
};

/// One instance in a round of renewals.
struct RenewedInstance {
    std::string ns = {};
    std::shared_ptr<ServiceInstance const> instance = {};  ///< As it was last described.
    Renewal renewal = Renewal::failed;
};

/// Registers instances and keeps them alive. Source: seed 003, "ServiceRegistry".
///
/// Every operation throws `rollcall::Error` for an operational failure, or, given a
/// `std::error_code&`, reports through it. Bad arguments throw `std::invalid_argument` either way:
/// `ns` as of `validate_namespace`, services and instances as of `validated`.
class ServiceRegistry {
public:
    virtual ~ServiceRegistry() = default;

    /// Adds the name of a service. True: it was not there.
    virtual bool set_service(std::string_view ns, std::string_view service) = 0;
    virtual bool set_service(std::string_view ns, std::string_view service,
                             std::error_code& error) = 0;
    /// Removes the name of a service that has no living instance. True: it was there and is gone.
    virtual bool remove_service(std::string_view ns, std::string_view service) = 0;
    virtual bool remove_service(std::string_view ns, std::string_view service,
                                std::error_code& error) = 0;

    /// Stores the instance, replacing what was said of it before. An ephemeral one is renewed from
    /// now on by whoever renews `registered_ephemeral_instances`.
    virtual bool register_instance(std::string_view ns, ServiceInstance const& instance) = 0;
    virtual bool register_instance(std::string_view ns, ServiceInstance const& instance,
                                   std::error_code& error) = 0;

    /// True: it was listed. Whatever comes of the call, no round of renewals brings it back, nor a
    /// single renewal that was called before this returned. Of another service than that of the id,
    /// it is taken off that service's list, and the instance of the id is renewed as before.
    virtual bool deregister(std::string_view ns, ServiceInstance const& instance) = 0;
    virtual bool deregister(std::string_view ns, ServiceInstance const& instance,
                            std::error_code& error) = 0;
    virtual bool deregister(std::string_view ns, std::string_view service,
                            std::string_view instance_id) = 0;
    virtual bool deregister(std::string_view ns, std::string_view service,
                            std::string_view instance_id, std::error_code& error) = 0;

    /// Renews one ephemeral instance, and registers it again if it is gone: as it was last
    /// described when it was registered here, else as given. Published so early that readers hear
    /// of it in time when the next call follows after a pause like the last two, or of 10 s, which
    /// is also reckoned with for what was not registered here. False: it is persistent (then Redis
    /// is not asked), was made so and is left so, or was deregistered meanwhile.
    virtual bool renew(std::string_view ns, ServiceInstance const& instance) = 0;
    virtual bool renew(std::string_view ns, ServiceInstance const& instance,
                       std::error_code& error) = 0;

    /// Replaces all metadata of an instance, with one pair too. True: it is registered, and of that
    /// service.
    virtual bool set_metadata(std::string_view ns, std::string_view service,
                              std::string_view instance_id, std::string_view key,
                              std::string_view value) = 0;
    virtual bool set_metadata(std::string_view ns, std::string_view service,
                              std::string_view instance_id, std::string_view key,
                              std::string_view value, std::error_code& error) = 0;
    virtual bool set_metadata(std::string_view ns, std::string_view service,
                              std::string_view instance_id, Metadata const& metadata) = 0;
    virtual bool set_metadata(std::string_view ns, std::string_view service,
                              std::string_view instance_id, Metadata const& metadata,
                              std::error_code& error) = 0;
    /// Adds to the metadata, replacing values of the same keys. Ours, not the design's. An error,
    /// and nothing is written, when it would become more than `validate_metadata` allows.
    virtual bool merge_metadata(std::string_view ns, std::string_view service,
                                std::string_view instance_id, Metadata const& metadata) = 0;
    virtual bool merge_metadata(std::string_view ns, std::string_view service,
                                std::string_view instance_id, Metadata const& metadata,
                                std::error_code& error) = 0;

    /// What was registered here as ephemeral and not deregistered, as it was last described. When a
    /// registration or description had no answer, it counts as done until a round has read what is
    /// stored.
    virtual std::map<NamespacedInstanceId, ServiceInstance> registered_ephemeral_instances()
        const = 0;

    /// Renews all of them, and registers again what is gone and was not deregistered meanwhile. One
    /// result for each; a failure of one does not touch the others. `period` is the time until the
    /// next round: renewals are published so early that a reader hears of one before its own copy
    /// expires, even when one round is missed. Gives up after `period` or the timeout of a request,
    /// whichever is longer, and when Redis answers nothing at all; the next call begins with those
    /// that were left out.
    virtual std::vector<RenewedInstance> renew_registered(std::chrono::milliseconds period) = 0;

    virtual RegistryProperties const& properties() const noexcept = 0;

    /// The client that it works with, for what goes on beside it, such as the sweep; null: none.
    /// Its type is not public.
    virtual std::shared_ptr<redis::ClientCore> core() const { return nullptr; }
};

/// The registry of the design, on Redis.
///
/// Cost: one script call each; a round is one for each 128 instances of a namespace.
/// Thread safety: all members, from any thread. Registrations, deregistrations, single renewals and
/// descriptions of one instance are carried out one after the other, in the order of the calls.
/// Lifetime: keeps what it needs of the client alive. Destroying it deregisters nothing.
class RedisServiceRegistry final : public ServiceRegistry {
public:
    /// Errors: `std::invalid_argument` as of `validate`.
    explicit RedisServiceRegistry(Client const& client, RegistryProperties properties = {});
    ~RedisServiceRegistry() override;

    bool set_service(std::string_view ns, std::string_view service) override;
    bool set_service(std::string_view ns, std::string_view service,
                     std::error_code& error) override;
    bool remove_service(std::string_view ns, std::string_view service) override;
    bool remove_service(std::string_view ns, std::string_view service,
                        std::error_code& error) override;
    bool register_instance(std::string_view ns, ServiceInstance const& instance) override;
    bool register_instance(std::string_view ns, ServiceInstance const& instance,
                           std::error_code& error) override;
    bool deregister(std::string_view ns, ServiceInstance const& instance) override;
    bool deregister(std::string_view ns, ServiceInstance const& instance,
                    std::error_code& error) override;
    bool deregister(std::string_view ns, std::string_view service,
                    std::string_view instance_id) override;
    bool deregister(std::string_view ns, std::string_view service, std::string_view instance_id,
                    std::error_code& error) override;
    bool renew(std::string_view ns, ServiceInstance const& instance) override;
    bool renew(std::string_view ns, ServiceInstance const& instance,
               std::error_code& error) override;
    bool set_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                      std::string_view key, std::string_view value) override;
    bool set_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                      std::string_view key, std::string_view value,
                      std::error_code& error) override;
    bool set_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                      Metadata const& metadata) override;
    bool set_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                      Metadata const& metadata, std::error_code& error) override;
    bool merge_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                        Metadata const& metadata) override;
    bool merge_metadata(std::string_view ns, std::string_view service, std::string_view instance_id,
                        Metadata const& metadata, std::error_code& error) override;
    std::map<NamespacedInstanceId, ServiceInstance> registered_ephemeral_instances() const override;
    std::vector<RenewedInstance> renew_registered(std::chrono::milliseconds period) override;
    RegistryProperties const& properties() const noexcept override;
    std::shared_ptr<redis::ClientCore> core() const override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/streaming/config.hpp"
#include "rollcall/streaming/filter_builder.hpp"
#include "rollcall/streaming/instance_source.hpp"
#include "rollcall/streaming/service_change_listener.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

class RegistryAdminService;

/// Finds instances. Source: seed 000, "Interface Design".
///
/// Lists are ordered by last heartbeat, then id. A failure is `rollcall::Error`, or the code given
/// as last argument; it never looks like an empty list. Service names are sanitised as in
/// registration, so that `a b` is found under the name it was registered with.
class ServiceConsumer : public InstanceSource {
public:
    /// All whose heartbeat is within the timeout, disabled and unhealthy ones included.
    virtual Instances all_instances(std::string_view service_name) = 0;
    virtual Instances all_instances(std::string_view service_name, std::error_code& error) = 0;

    /// Those of `all_instances` that are enabled and healthy.
    virtual Instances healthy_instances(std::string_view service_name) = 0;
    virtual Instances healthy_instances(std::string_view service_name, std::error_code& error) = 0;

    /// `healthy_instances` if `healthy`, else `all_instances`.
    virtual Instances instances(std::string_view service_name, bool healthy) = 0;
    virtual Instances instances(std::string_view service_name, bool healthy,
                                std::error_code& error) = 0;

    /// Those whose metadata matches all filters; evaluated by Redis. No filters: all instances.
    virtual Instances instances_by_metadata(std::string_view service_name,
                                            Filters const& metadata) = 0;
    virtual Instances instances_by_metadata(std::string_view service_name, Filters const& metadata,
                                            std::error_code& error) = 0;
    virtual Instances healthy_instances_by_metadata(std::string_view service_name,
                                                    Filters const& metadata) = 0;
    virtual Instances healthy_instances_by_metadata(std::string_view service_name,
                                                    Filters const& metadata,
                                                    std::error_code& error) = 0;

    /// By metadata and metrics together. Both empty: all instances.
    virtual Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics) = 0;
    virtual Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics, std::error_code& error) = 0;
    Instances healthy_instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics) override = 0;
    virtual Instances healthy_instances_by_filters(std::string_view service_name,
                                                   Filters const& metadata, Filters const& metrics,
                                                   std::error_code& error) = 0;

    /// Tells `listener` of the changes of a service, which need not exist yet; see
    /// `ServiceChangeListener`. Subscribing it again changes nothing. Kept alive while subscribed.
    virtual void subscribe(std::string_view service_name,
                           std::shared_ptr<ServiceChangeListener> listener) = 0;
    /// Once it has returned, `listener` is not called for this service again, and does not run;
    /// inside a call of any listener and on the I/O thread it returns at once, and what runs is the
    /// last. Of what is not subscribed: nothing. Never fails.
    virtual void unsubscribe(std::string_view service_name,
                             std::shared_ptr<ServiceChangeListener> const& listener) = 0;

    virtual void start() = 0;
    virtual void stop() = 0;  ///< Ends all subscriptions, as `unsubscribe` does.
    virtual bool is_running() const noexcept = 0;
};

/// The consumer of the design, on Redis.
///
/// Cost: a list is two round trips, the ids and then all Hashes in pipelined chunks; with filters
/// the first is a script that reads every active instance of the service. A service with
/// subscriptions is watched, once for all of them: read when the first begins and when messages may
/// have been missed, else only the instances that change; lists are read from Redis all the same.
/// Errors: `std::logic_error` while not running, save of `unsubscribe`.
/// Thread safety: all members, from any thread.
class RedisServiceConsumer final : public ServiceConsumer {
public:
    explicit RedisServiceConsumer(Client const& client, ServiceConsumerConfig config = {});
    ~RedisServiceConsumer() override;

    Instances all_instances(std::string_view service_name) override;
    Instances all_instances(std::string_view service_name, std::error_code& error) override;
    Instances healthy_instances(std::string_view service_name) override;
    Instances healthy_instances(std::string_view service_name, std::error_code& error) override;
    Instances instances(std::string_view service_name, bool healthy) override;
    Instances instances(std::string_view service_name, bool healthy,
                        std::error_code& error) override;
    Instances instances_by_metadata(std::string_view service_name,
                                    Filters const& metadata) override;
    Instances instances_by_metadata(std::string_view service_name, Filters const& metadata,
                                    std::error_code& error) override;
    Instances healthy_instances_by_metadata(std::string_view service_name,
                                            Filters const& metadata) override;
    Instances healthy_instances_by_metadata(std::string_view service_name, Filters const& metadata,
                                            std::error_code& error) override;
    /// Returns when messages arrive and the first calls are under way, at the latest after the
    /// client's request timeout: then they follow when Redis answers, which is no error; on the I/O
    /// thread at once.
    ///
    /// Errors: `std::invalid_argument` for a name that cannot be stored and for no listener;
    /// `errc::closed` in a forked child.
    void subscribe(std::string_view service_name,
                   std::shared_ptr<ServiceChangeListener> listener) override;
    void unsubscribe(std::string_view service_name,
                     std::shared_ptr<ServiceChangeListener> const& listener) override;

    void start() override;
    void stop() override;
    bool is_running() const noexcept override;

    Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                   Filters const& metrics) override;
    Instances instances_by_filters(std::string_view service_name, Filters const& metadata,
                                   Filters const& metrics, std::error_code& error) override;
    Instances healthy_instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics) override;
    Instances healthy_instances_by_filters(std::string_view service_name, Filters const& metadata,
                                           Filters const& metrics, std::error_code& error) override;

    /// The names of all registered services, sorted. Cost: one command.
    std::vector<std::string> list_services();
    std::vector<std::string> list_services(std::error_code& error);

    // What was discovered: the instances that lists of this consumer have given, as its last list
    // of each service had them, or, while a service is subscribed, as they are. Of 100,000, those
    // of services not listed for the longest are forgotten first. None of these asks Redis, save
    // the refreshing.

    /// Lists the instances of a service, for what was discovered. A failure, also of the name, is
    /// logged and changes nothing; while not running it does nothing.
    void refresh_service_instances(std::string_view service_name);
    /// How many.
    std::size_t discovered_instance_count() const;
    /// Whether one was discovered and is marked as healthy; of several services with one of that
    /// id, in all of them.
    bool is_instance_healthy(std::string_view instance_id) const;
    bool is_instance_healthy(std::string_view service_name, std::string_view instance_id) const;

    /// The administration of the same prefix; null unless `enable_admin_service`.
    RegistryAdminService* admin() noexcept;

    ServiceConsumerConfig const& config() const noexcept;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop

#include "cosky/cosky_port.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/checks.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/examination.hpp"
#include "cosky/expiry_sweep.hpp"
#include "cosky/instance_reader.hpp"
#include "cosky/live_reader.hpp"
#include "cosky/renewal_tolerance.hpp"
#include "registry/heartbeat_plan.hpp"
#include "registry/script_calls.hpp"

#include "rollcall/cosky/config.hpp"
#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Failure not_stored(std::string_view what) {
    return {errc::not_supported, "the cosky layout does not store " + std::string{what}};
}

Found found_of(InstanceReader::Listed&& listed) {
    Found found;
    found.instance = std::move(listed.found.instance);
    found.state = listed.found.state;
    found.lease = listed.lease;
    return found;
}

bool meets_all(Metadata const& metadata, std::vector<Condition> const& conditions) {
    return std::ranges::all_of(conditions, [&](Condition const& condition) {
        auto const at = metadata.find(condition.field);
        return at != metadata.end() && meets(condition, at->second);
    });
}

class CoskyPort final : public LayoutPort {
public:
    CoskyPort(std::shared_ptr<redis::ClientCore> core, CoskyPortOptions const& options)
        : ns_(options.ns),
          lease_(std::chrono::ceil<seconds>(options.lease)),
          tolerance_(renewal_tolerance(lease_, options.heartbeat)),
          scripts_(std::move(core)),
          reader_(scripts_),
          sweep_(scripts_, reader_, ns_),
          live_(scripts_, ns_, lease_) {}

    Capabilities capabilities() const noexcept override { return {}; }

    Task<Result<Written>> register_instance(ServiceInstance const& instance,
                                            Deadline deadline) override;
    ServiceInstance validated(ServiceInstance const& instance) const override {
        return cosky::validated(instance);
    }
    InstanceId validated(InstanceId const& id) const override;
    Task<Result<Written>> deregister_instance(InstanceId const& id, Deadline deadline) override;
    Task<Result<std::vector<Liveness>>> heartbeat(std::span<InstanceId const> ids,
                                                  Deadline deadline) override;

    Task<Result<std::vector<ServiceSummary>>> services(Deadline deadline) override {
        return reader_.summaries(ns_, deadline);
    }
    Task<Result<std::vector<Found>>> instances(Query const& query, Deadline deadline) override;
    Task<Result<std::optional<Found>>> instance(InstanceId const& id, Deadline deadline) override;
    std::size_t left_out() const noexcept override { return reader_.skipped(); }

    Task<Result<Written>> set_enabled(InstanceId const& id, bool on, Deadline deadline) override;
    Task<Result<Written>> set_healthy(InstanceId const& id, bool on, Deadline deadline) override;
    Task<Result<Written>> set_weight(InstanceId const& id, int weight, Deadline deadline) override;
    Task<Result<Written>> set_metadata(InstanceId const& id, Metadata const& metadata,
                                       Deadline deadline) override;
    Task<Result<Written>> merge_metadata(InstanceId const& id, Metadata const& metadata,
                                         Deadline deadline) override;

    Task<Result<SweepReport>> sweep(Deadline deadline) override { return sweep_.run(deadline); }
    Task<Result<SweepReport>> sweep_as_leader(milliseconds hold, Deadline deadline) override {
        return sweep_.run_as_leader(hold, deadline);
    }
    Task<Result<void>> yield_sweeping(Deadline deadline) override { return sweep_.yield(deadline); }

    LivePort& live() noexcept override { return live_; }

    Task<Result<std::vector<Finding>>> examine(bool fix, Deadline deadline) override {
        return cosky::examine(scripts_, sweep_, ns_, lease_, fix, deadline);
    }

private:
    std::vector<RenewCall> calls_for(std::vector<HeartbeatPlan::Group> const& groups) const;
    Liveness liveness(Lease lease, InstanceId const& id) const;

    std::string ns_;
    seconds lease_;
    seconds tolerance_;
    DiscoveryRedisScripts scripts_;
    InstanceReader reader_;
    ExpirySweep sweep_;
    LiveReader live_;
};

InstanceId CoskyPort::validated(InstanceId const& id) const {
    validate_stored_name("service name", id.service);
    validate_stored_name("instance id", id.id);
    return id;
}

Task<Result<Written>> CoskyPort::register_instance(ServiceInstance const& instance,
                                                   Deadline deadline) {
    RegisterCall call;
    call.ns = ns_;
    call.instance = validated(instance);
    call.lease = lease_;
    co_return co_await scripts_.register_telling(call, deadline);
}

Task<Result<Written>> CoskyPort::deregister_instance(InstanceId const& id, Deadline deadline) {
    auto const names = validated(id);
    co_return co_await scripts_.registry_deregister(ns_, names, deadline);
}

std::vector<RenewCall> CoskyPort::calls_for(std::vector<HeartbeatPlan::Group> const& groups) const {
    std::vector<RenewCall> calls;
    calls.reserve(groups.size());
    for (auto const& group : groups) {
        auto& call = calls.emplace_back();
        call.ns = ns_;
        call.lease = lease_;
        call.tolerance = tolerance_;
        call.ids = group.ids;
    }
    return calls;
}

Liveness CoskyPort::liveness(Lease lease, InstanceId const& id) const {
    switch (lease) {
        case Lease::renewed:
            return Liveness::alive;
        case Lease::persistent:
            return Liveness::persistent;
        case Lease::ending:
        case Lease::missing:
            return Liveness::gone;
        case Lease::wrong_type:
            scripts_.core().log().write(
                LogLevel::warning, "heartbeat",
                subject("heartbeat of", id.service, id.id) +
                    ": its key, or the list of its service, has another type");
            return Liveness::refused;
        case Lease::refused:
            break;
    }
    return Liveness::failed;
}

Task<Result<std::vector<Liveness>>> CoskyPort::heartbeat(std::span<InstanceId const> ids,
                                                         Deadline deadline) {
    HeartbeatPlan::Limits limits;
    limits.ids_in_call = DiscoveryRedisScripts::max_renewals;
    HeartbeatPlan plan{ids, [this](InstanceId const& id) { return validated(id); }, limits,
                       scripts_.core().log()};
    while (plan.next_round(deadline)) {
        auto const calls = calls_for(plan.groups());
        auto const replies = co_await scripts_.registry_renew_batch(calls, deadline);
        for (std::size_t c = 0; c < replies.size(); ++c) {
            auto const& group = plan.groups()[c];
            if (replies[c].has_error()) {
                plan.fail(replies[c].error());
                continue;
            }
            auto const& [leases, refusal, announced] = *replies[c];
            if (refusal) plan.fail(*refusal);
            for (std::size_t e = 0; e < leases.size(); ++e) {
                if (leases[e] != Lease::refused) {
                    plan.tell(group, e, liveness(leases[e], group.ids[e]));
                } else if (refusal && !is_transient(refusal->code())) {
                    plan.tell_refused(group, e);
                }
            }
        }
    }
    co_return std::move(plan).finish();
}

Task<Result<std::vector<Found>>> CoskyPort::instances(Query const& query, Deadline deadline) {
    if (!query.metrics.empty()) co_return not_stored("metrics");
    validate_stored_name("service name", query.service);
    auto listed = co_await reader_.list(ns_, query.service, deadline);
    if (listed.has_error()) co_return listed.error();
    std::vector<Found> result;
    result.reserve(listed->size());
    for (auto& one : *listed) {
        if (!meets_all(one.found.instance.metadata, query.metadata)) continue;
        result.push_back(found_of(std::move(one)));
    }
    co_return result;
}

Task<Result<std::optional<Found>>> CoskyPort::instance(InstanceId const& id, Deadline deadline) {
    auto const names = validated(id);
    auto listed = co_await reader_.one(ns_, names, deadline);
    if (listed.has_error()) co_return listed.error();
    if (!*listed) co_return std::nullopt;
    co_return found_of(*std::move(*listed));
}

Task<Result<Written>> CoskyPort::set_enabled(InstanceId const&, bool, Deadline) {
    co_return not_stored("whether an instance is enabled");
}

Task<Result<Written>> CoskyPort::set_healthy(InstanceId const&, bool, Deadline) {
    co_return not_stored("whether an instance is healthy");
}

Task<Result<Written>> CoskyPort::set_weight(InstanceId const& id, int weight, Deadline deadline) {
    check_weight(weight);
    auto const names = validated(id);
    co_return co_await scripts_.registry_set_weight(ns_, names, weight, deadline);
}

Task<Result<Written>> CoskyPort::set_metadata(InstanceId const& id, Metadata const& metadata,
                                              Deadline deadline) {
    validate_metadata(metadata);
    auto const names = validated(id);
    co_return co_await scripts_.registry_set_metadata(ns_, names, metadata, deadline);
}

Task<Result<Written>> CoskyPort::merge_metadata(InstanceId const& id, Metadata const& metadata,
                                                Deadline deadline) {
    validate_metadata(metadata);
    auto const names = validated(id);
    co_return co_await scripts_.registry_merge_metadata(ns_, names, metadata, deadline);
}

}  // namespace

void validate(CoskyPortOptions const& options) {
    validate_namespace(options.ns);
    RegistryProperties registry;
    registry.instance_ttl = options.lease;
    validate(registry);
}

std::unique_ptr<LayoutPort> make_cosky_port(std::shared_ptr<redis::ClientCore> core,
                                            CoskyPortOptions const& options) {
    validate_namespace(options.ns);
    RegistryProperties registry;
    registry.instance_ttl = options.lease;
    RenewProperties renewal;
    renewal.period = options.heartbeat;
    validate(renewal, registry);
    return std::make_unique<CoskyPort>(std::move(core), options);
}

}  // namespace rollcall::cosky

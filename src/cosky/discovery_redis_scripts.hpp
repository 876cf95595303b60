#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/response.hpp"
#include "redis/script.hpp"
#include "redis/task.hpp"
#include "registry/epoch_stamps.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky {

struct RegisterCall {
    std::string ns = {};
    ServiceInstance instance = {};   ///< As `validated` gives it.
    std::chrono::seconds lease{60};  ///< Of an ephemeral one.
};

/// Renewals of one namespace that travel in one call.
struct RenewCall {
    std::string ns = {};
    std::vector<InstanceId> ids = {};
    std::chrono::seconds lease{60};
    std::chrono::seconds tolerance{5};
};

/// What a renewal found.
enum class Lease {
    renewed,
    ending,      ///< In its last half second, too late.
    persistent,  ///< Has none.
    missing,     ///< Not there, not listed under its service, or of another one.
    wrong_type,  ///< A key that belongs to it has another type.
    refused,     ///< Redis takes no writes, or not from this user.
};

struct RenewReply {
    std::vector<Lease> leases = {};       ///< One for each id, in order.
    std::optional<Failure> refusal = {};  ///< Why, of the first that is `refused`.
    bool announced = true;
};

/// What becomes of an expired instance that cannot be announced.
enum class Unannounced {
    removed,
    kept,  ///< It stays listed, for somebody who may announce it.
};

/// Instances of one service that may have expired, at most `DiscoveryRedisScripts::max_expired`.
struct ExpireCall {
    std::string ns = {};
    std::string service = {};
    std::vector<std::string> ids = {};
    Unannounced unannounced = Unannounced::kept;
};

/// Runs the scripts of this layout, called as in the design. Source: seed 003,
/// "DiscoveryRedisScripts". Keys, arguments, replies and costs are in `docs/redis-contract.md`.
///
/// `Written::existed` says that there was something to do: the instance or service was there or,
/// for `registry_set_service`, was not. What registers and renews instances sees to it that the
/// data has an epoch. Thread safety: the I/O thread only, construction aside.
class DiscoveryRedisScripts {
public:
    static constexpr std::size_t max_renewals = 128;   ///< Of one call.
    static constexpr std::size_t max_expired = 1'000;  ///< Ids of one call.

    explicit DiscoveryRedisScripts(std::shared_ptr<redis::ClientCore> core)
        : core_(std::move(core)), epochs_(std::make_shared<EpochStamps>(*core_)) {}

    Task<Result<Written>> registry_register(RegisterCall const& call, Deadline deadline) const;
    /// Sends all together and answers each on its own.
    Task<std::vector<Result<Written>>> registry_register(std::span<RegisterCall const> calls,
                                                         Deadline deadline) const;
    Task<Result<Written>> registry_deregister(std::string const& ns, InstanceId const& id,
                                              Deadline deadline) const;
    /// The first of the call's ids.
    Task<Result<Lease>> registry_renew(RenewCall const& call, Deadline deadline) const;
    /// Sends all together and answers each on its own.
    Task<std::vector<Result<RenewReply>>> registry_renew_batch(std::span<RenewCall const> calls,
                                                               Deadline deadline) const;
    /// Replaces all metadata.
    Task<Result<Written>> registry_set_metadata(std::string const& ns, InstanceId const& id,
                                                Metadata const& metadata, Deadline deadline) const;
    Task<Result<Written>> registry_set_service(std::string const& ns, std::string const& service,
                                               Deadline deadline) const;
    Task<Result<Written>> registry_remove_service(std::string const& ns, std::string const& service,
                                                  Deadline deadline) const;

    /// Of `service`, or of all.
    Task<Result<void>> service_stat(std::string const& ns,
                                    std::optional<std::string> const& service,
                                    Deadline deadline) const;
    Task<Result<void>> service_topology_add(std::string const& ns, std::string const& consumer,
                                            std::string const& producer,
                                            std::optional<std::chrono::seconds> expire_after,
                                            Deadline deadline) const;

    // Ours, not the design's.

    /// `registry_register`, where `Written::existed` says that an instance was described there.
    Task<Result<Written>> register_telling(RegisterCall const& call, Deadline deadline) const;
    Task<Result<Written>> registry_merge_metadata(std::string const& ns, InstanceId const& id,
                                                  Metadata const& metadata,
                                                  Deadline deadline) const;
    Task<Result<Written>> registry_set_weight(std::string const& ns, InstanceId const& id,
                                              int weight, Deadline deadline) const;
    /// Takes those of the ids that have expired off the list of their service and announces them.
    /// Gives those that were removed.
    Task<Result<std::vector<std::string>>> discovery_expire(ExpireCall const& call,
                                                            Deadline deadline) const;
    /// Sends all together and answers each on its own.
    Task<std::vector<Result<std::vector<std::string>>>> discovery_expire(
        std::span<ExpireCall const> calls, Deadline deadline) const;

    redis::ClientCore& core() const noexcept { return *core_; }
    std::shared_ptr<redis::ClientCore> const& shared_core() const noexcept { return core_; }

private:
    /// With a second key behind the namespace unless `second_key` is empty.
    Task<Result<redis::Response>> run(redis::Script const& script, std::string const& ns,
                                      std::vector<std::string> arguments, std::string what,
                                      Deadline deadline, std::string second_key = {}) const;
    Task<Result<Written>> write(redis::Script const& script, std::string const& ns,
                                std::vector<std::string> arguments, std::string what,
                                Deadline deadline, std::string second_key = {}) const;
    /// `registry_update_fields` with pairs of field and value.
    Task<Result<Written>> update(std::string const& ns, InstanceId const& id,
                                 std::vector<std::string> pairs, std::string_view verb,
                                 Deadline deadline) const;

    std::shared_ptr<redis::ClientCore> core_;
    std::shared_ptr<EpochStamps> epochs_;
};

/// As many calls as these ids need.
std::vector<ExpireCall> expire_calls(std::string const& ns, std::string const& service,
                                     std::span<std::string const> ids, Unannounced unannounced);

}  // namespace rollcall::cosky

#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/log.hpp"
#include "streaming/instance_names.hpp"
#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/instance.hpp"
#include "rollcall/streaming/heartbeat_state_manager.hpp"
#include "rollcall/streaming/service_provider.hpp"

namespace rollcall::streaming {

/// What a provider registered and has not deregistered, as it was last described.
///
/// Thread safety: all members from any thread.
///
/// It stays what is stored because registrations and deregistrations of one instance take its lane
/// and tell of their outcome while they have it.
class OwnInstances {
public:
    using Key = std::pair<std::string, std::string>;  ///< Service and id.

    void put(ServiceInstance const& validated);
    void describe(std::string const& service, std::string const& id, Metadata const& metadata);
    void erase(std::string const& service, std::string const& id);
    std::optional<ServiceInstance> find(std::string const& service, std::string const& id) const;

private:
    mutable std::mutex mutex_;
    std::map<Key, ServiceInstance> instances_;  // Guarded by the mutex.
};

/// A batch of heartbeats on its way from the caller's instances to script calls and back to one
/// result for each: at most 16,384, and fewer that describe. Does no I/O.
class HeartbeatBatch {
public:
    HeartbeatBatch(HeartbeatStateManager& states, OwnInstances& own, Log const& log,
                   HeartbeatStateManager::Time now)
        : states_(states), own_(own), log_(log), now_(now) {}

    /// Decides for as many of the first instances as a batch may have, one at least, what is due.
    /// Call once, then send `calls()`; `results()` are of those instances.
    void prepare(std::span<ServiceInstance const> instances);
    std::span<HeartbeatCall const> calls() const noexcept { return calls_; }

    /// Takes what the scripts answered. Returns which are gone and to be registered again: failed,
    /// until `reregistered` takes the answer.
    std::vector<OwnInstances::Key> take(std::span<Result<HeartbeatReply> const> replies,
                                        bool reregister);
    /// The one at `index` as it is described now; none if it was deregistered meanwhile. In its
    /// lane, as is the next.
    std::optional<ServiceInstance> to_register(std::size_t index);
    void reregistered(std::size_t index, ServiceInstance const& stored,
                      Result<Written> const& outcome);
    /// It was not asked for.
    void not_reregistered(std::size_t index);

    std::vector<HeartbeatResult> results() && { return std::move(results_); }

private:
    struct Beating {
        std::size_t position = 0;  ///< Among the caller's instances.
        UpdateDecision decision = UpdateDecision::heartbeat_only;
        Metadata metadata = {};  ///< With `metadata_update` only.
    };

    void add(std::size_t position, ServiceInstance const& given);
    bool describe(ServiceInstance const& given, InstanceNames const& names,
                  HeartbeatCall::Entry& entry) const;
    ServiceInstance description(ServiceInstance const& given, InstanceNames const& names) const;
    std::size_t call_for(std::string const& service, bool describing, std::size_t size);
    void written(std::string const& service, std::string const& id, Beating const& beating);
    void fail(std::string_view why);

    HeartbeatStateManager& states_;
    OwnInstances& own_;
    Log const& log_;
    HeartbeatStateManager::Time now_;
    std::vector<HeartbeatCall> calls_;
    std::vector<std::vector<Beating>> beating_;  // One for each entry of each call.
    /// The call that takes further entries of a service and mode, and the bytes it holds already.
    std::map<std::pair<std::string, bool>, std::pair<std::size_t, std::size_t>> open_;
    std::size_t described_ = 0;  // Bytes.
    struct Lost {
        OwnInstances::Key key = {};
        Beating const* beating = nullptr;
    };
    std::vector<Lost> lost_;  // Those to be registered again.
    std::vector<HeartbeatResult> results_;
};

}  // namespace rollcall::streaming

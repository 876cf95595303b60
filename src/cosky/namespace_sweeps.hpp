#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/expiry_sweep.hpp"
#include "cosky/instance_reader.hpp"
#include "redis/task.hpp"
#include "registry/sweeper.hpp"

namespace rollcall::cosky {

/// The sweeps of several namespaces, each with a lease of its own. A failure of one does not touch
/// the others.
///
/// Thread safety: `set_namespaces` from any thread; the rest on the I/O thread only.
class NamespaceSweeps final : public Swept {
public:
    explicit NamespaceSweeps(std::shared_ptr<redis::ClientCore> core)
        : scripts_(std::move(core)), reader_(scripts_) {}

    /// Those that are swept from the next sweep on.
    void set_namespaces(std::set<std::string> namespaces);

    /// The services of all, as `namespace/service`.
    Task<Result<SweepReport>> sweep_as_leader(std::chrono::milliseconds hold,
                                              Deadline deadline) override;
    Task<Result<void>> yield_sweeping(Deadline deadline) override;

private:
    Task<void> follow(Deadline deadline);
    std::string next_after(std::string const& ns) const;

    DiscoveryRedisScripts scripts_;
    InstanceReader reader_;
    std::map<std::string, ExpirySweep> sweeps_;
    std::string first_;  // Where the next sweep begins: none is always the last.

    std::mutex mutex_;
    std::set<std::string> namespaces_;  // Guarded by the mutex.
};

}  // namespace rollcall::cosky

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "core/log.hpp"
#include "redis/callback_thread.hpp"

#include "rollcall/cosky/service_topology.hpp"

namespace rollcall::cosky {

/// Says once that this process uses a service: when Redis can hear it, and again until it did.
///
/// Thread safety: all members.
class TopologyEdge : public std::enable_shared_from_this<TopologyEdge> {
public:
    /// Of no topology or no service: says nothing.
    TopologyEdge(std::shared_ptr<ServiceTopology> topology, std::string ns, std::string service,
                 Log log);

    void record_on(redis::CallbackThread& thread);

private:
    void record();
    void complain(std::string_view why) const;

    std::shared_ptr<ServiceTopology> const topology_;
    std::string const ns_;
    std::string const service_;
    Log const log_;
    std::atomic<bool> wanted_;
};

}  // namespace rollcall::cosky

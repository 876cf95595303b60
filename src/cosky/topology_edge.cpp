#include "cosky/topology_edge.hpp"

#include <exception>
#include <utility>

#include "core/text.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cosky {

TopologyEdge::TopologyEdge(std::shared_ptr<ServiceTopology> topology, std::string ns,
                           std::string service, Log log)
    : topology_(std::move(topology)),
      ns_(std::move(ns)),
      service_(std::move(service)),
      log_(std::move(log)),
      wanted_(topology_ && !service_.empty()) {}

void TopologyEdge::record_on(redis::CallbackThread& thread) {
    if (wanted_.exchange(false)) thread.post([self = shared_from_this()] { self->record(); });
}

void TopologyEdge::record() {
    try {
        topology_->add_topology(ns_, service_);
    } catch (Error const& error) {
        wanted_ = true;
        complain(joined({error.what(), ": ", error.detail()}));
    } catch (std::exception const& error) {
        complain(error.what());
    }
}

void TopologyEdge::complain(std::string_view why) const {
    log_.write(LogLevel::warning, "topology",
               joined({"the use of ", service_, " in ", ns_, " was not recorded: ", why}));
}

}  // namespace rollcall::cosky

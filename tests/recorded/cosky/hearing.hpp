#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recorded/cosky/inputs.hpp"
#include "support/redis_server.hpp"

#include "rollcall/cosky.hpp"

namespace rollcall::cosky::test {

/// Listens to one service and to the list of services, from the first moment that it is asked to.
class Hearing {
public:
    Hearing(Client const& client, std::shared_ptr<ServiceTopology> topology)
        : instances_(client, std::move(topology)), services_(client) {}

    /// Returns when Redis has confirmed it. Whether it has.
    bool listen_to(std::string const& service) {
        if (!instance_events_) {
            instance_events_ = std::make_unique<EventSubscription>(
                instances_.receive(recorded_ns, service, [this](InstanceChangedEvent const& event) {
                    note(std::string{to_payload(event.event)} + ' ' + event.instance_id);
                }));
        }
        return has(" ");
    }
    bool listen_to_services() {
        if (!service_events_) {
            service_events_ = std::make_unique<EventSubscription>(
                services_.receive(recorded_ns, [this](ServiceChangedEvent const& event) {
                    note(event.event == ServiceEvent::resync ? "services" : "changed services");
                }));
        }
        return has("services");
    }

    /// Whether that is told soon: the payload of an event and the id.
    bool has(std::string const& line) const {
        return rollcall::test::eventually([&] {
            std::lock_guard const lock{mutex_};
            return std::find(lines_.begin(), lines_.end(), line) != lines_.end();
        });
    }
    bool has_skipped() const {
        return rollcall::test::eventually([&] { return instances_.skipped() > 0; });
    }

private:
    void note(std::string line) {
        std::lock_guard const lock{mutex_};
        lines_.push_back(std::move(line));
    }

    RedisInstanceEventListenerContainer instances_;
    RedisServiceEventListenerContainer services_;
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;                      // Guarded by the mutex.
    std::unique_ptr<EventSubscription> instance_events_;  // Null: not listening. Ends first.
    std::unique_ptr<EventSubscription> service_events_;
};

}  // namespace rollcall::cosky::test

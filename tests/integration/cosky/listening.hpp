#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "integration/cosky/fixture.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cosky::test {

/// Writes down what a listener is told, one line each: `register S I`, `resync S`.
class Heard {
public:
    /// `act(event)` is called in the listener after each line.
    InstanceEventListener listener(std::function<void(InstanceChangedEvent const&)> act =
                                       [](InstanceChangedEvent const&) {}) {
        return [this, act = std::move(act)](InstanceChangedEvent const& event) {
            note(event);
            act(event);
        };
    }

    std::vector<InstanceChangedEvent> events() const {
        std::lock_guard const lock{mutex_};
        return events_;
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> result;
        for (auto const& event : events()) result.push_back(line_of(event));
        return result;
    }
    std::size_t count(std::string const& begin) const {
        auto const all = lines();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [&](auto const& line) { return line.starts_with(begin); }));
    }
    bool told(std::string const& begin, std::size_t times = 1) const {
        return eventually([&] { return count(begin) >= times; });
    }
    void clear() {
        std::lock_guard const lock{mutex_};
        events_.clear();
    }

    static std::string line_of(InstanceChangedEvent const& event) {
        if (event.event == InstanceEvent::resync) return "resync " + event.service_name;
        return std::string{to_payload(event.event)} + ' ' + event.instance_id;
    }

private:
    void note(InstanceChangedEvent const& event) {
        std::lock_guard const lock{mutex_};
        events_.push_back(event);
    }

    mutable std::mutex mutex_;
    std::vector<InstanceChangedEvent> events_;
};

class Listening : public CoskyTest {
protected:
    void publish(std::string const& id, std::string const& payload, std::string const& space = ns) {
        redis().must({"PUBLISH", DiscoveryKeyGenerator::instance_key(space, id), payload});
    }
    /// All that was published before has reached the queues of the listeners.
    void settle() {
        auto const& core = client.core();
        core->run([&] { return core->subscriber().ping(after(5s)); }).value();
    }
    long long patterns() { return redis().must({"PUBSUB", "NUMPAT"}).integer - own_patterns; }

    static constexpr long long own_patterns = 1;  // That of the fixture's listener.

    RedisServiceRegistry registry{client};
    RedisInstanceEventListenerContainer container{client, nullptr};
};

}  // namespace rollcall::cosky::test

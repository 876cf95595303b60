#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "redis/subscriber.hpp"

namespace rollcall::test {

/// Writes down what a subscriber tells, one line each.
class Recorder final : public redis::PushHandler {
public:
    /// `act(line)` is called on the I/O thread for each line from now on.
    void on_line(std::function<void(std::string const&)> act) {
        std::lock_guard const lock{mutex_};
        act_ = std::move(act);
    }

    void confirmed(redis::Topic const& topic) override { note("confirmed " + topic.name); }
    void message(redis::Message const& message) override {
        auto const by = message.topic.is_pattern ? message.topic.name + " " : std::string{};
        note("message " + by + std::string{message.channel} + " " + std::string{message.payload});
    }
    void unreadable(redis::Topic const& topic, std::string_view channel) override {
        note("unreadable " + topic.name + " " + std::string{channel});
    }
    void refused(redis::Topic const& topic, Failure const&) override {
        note("refused " + topic.name);
    }
    void invalidated(std::string_view key) override { note("invalidated " + std::string{key}); }
    void lost(std::string_view why) override { note("lost " + std::string{why}); }

    std::vector<std::string> lines() const {
        std::lock_guard const lock{mutex_};
        return lines_;
    }
    std::size_t count(std::string_view begin) const {
        std::lock_guard const lock{mutex_};
        return static_cast<std::size_t>(
            std::count_if(lines_.begin(), lines_.end(),
                          [&](auto const& line) { return line.starts_with(begin); }));
    }
    bool has(std::string_view begin) const { return count(begin) > 0; }
    void clear() {
        std::lock_guard const lock{mutex_};
        lines_.clear();
    }

private:
    void note(std::string line) {
        std::unique_lock lock{mutex_};
        lines_.push_back(line);
        auto const act = act_;
        lock.unlock();
        act(line);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
    std::function<void(std::string const&)> act_ = [](std::string const&) {};
};

/// Runs `act(subscriber)` on the I/O thread.
template <class Act>
void with_subscriber(redis::ClientCore& core, Act act) {
    on_io_thread(core, [&] {
        act(core.subscriber());
        return true;
    });
}

inline void subscribe(redis::ClientCore& core, Recorder& recorder,
                      std::vector<std::string> const& names, bool pattern = false) {
    with_subscriber(core, [&](redis::Subscriber& subscriber) {
        for (auto const& name : names) subscriber.subscribe(recorder, {name, pattern}).value();
    });
}

inline void unsubscribe(redis::ClientCore& core, Recorder& recorder, std::string const& name,
                        bool pattern = false) {
    with_subscriber(core, [&](redis::Subscriber& subscriber) {
        subscriber.unsubscribe(recorder, {name, pattern});
    });
}

inline Result<void> ping(redis::ClientCore& core, std::chrono::milliseconds limit = 5s) {
    return core.run([&] { return core.subscriber().ping(after(limit)); });
}

inline std::uint64_t disturbances(redis::ClientCore& core) {
    return on_io_thread(core, [&] { return core.subscriber().disturbances(); });
}

}  // namespace rollcall::test

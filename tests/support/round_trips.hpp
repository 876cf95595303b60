#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "support/redis_server.hpp"

namespace rollcall::test {

/// A socket in front of a server that counts round trips: answers are held back until the client
/// has been silent for a while, so that whatever needs no answer to go on is one round trip.
class RoundTrips {
public:
    /// With an `offset` the server seems to have another clock: answers to TIME are shifted by it.
    explicit RoundTrips(RedisServer const& server, std::chrono::seconds offset = {});
    ~RoundTrips();

    std::string url() const { return "unix://" + path_; }

    /// Those that `action` takes.
    template <class Action>
    int of(Action action) {
        auto const before = count_.load();
        action();
        return count_.load() - before;
    }

private:
    void serve();
    void forward(int client, int server);
    std::string shifted(std::string answers) const;

    TemporaryFolder folder_;
    std::chrono::seconds offset_;
    std::string target_;
    std::string path_;
    int listener_ = -1;
    std::atomic<bool> ending_ = false;
    std::atomic<int> count_ = 0;
    std::thread thread_;
};

}  // namespace rollcall::test

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <list>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "support/redis_server.hpp"

namespace rollcall::test {

/// A longer way to a server: a unix socket whose connections end at the server's, where each byte
/// takes `delay` in either direction.
class Detour {
public:
    Detour(RedisServer const& server, std::chrono::milliseconds delay)
        : target_(server.socket()),
          socket_((folder_.path() / "detour.sock").string()),
          delay_(delay),
          listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto const address = address_of(socket_);
        auto const* const raw = reinterpret_cast<sockaddr const*>(&address);
        if (::bind(listener_, raw, sizeof address) != 0 || ::listen(listener_, 8) != 0) {
            throw std::runtime_error{"no detour at " + socket_};
        }
        thread_ = std::thread{[this] { run(); }};
    }
    ~Detour() {
        ending_ = true;
        thread_.join();
        for (auto const& way : ways_) ::close(way.from);
        ::close(listener_);
    }
    Detour(Detour const&) = delete;
    Detour& operator=(Detour const&) = delete;

    std::string url() const { return "unix://" + socket_; }
    /// How often clients have sent something so far: a request arrives as a whole.
    std::size_t seen() const { return seen_; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds step{1};

    struct Way {
        int from = -1;
        int to = -1;
        bool upwards = false;
        std::deque<std::pair<Clock::time_point, std::string>> under_way = {};
    };

    static sockaddr_un address_of(std::string const& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path) throw std::runtime_error{"long path " + path};
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        return address;
    }

    void run() {
        while (!ending_) {
            accept_one();
            for (auto& way : ways_) {
                take(way);
                deliver(way);
            }
        }
    }

    /// Waits a step for somebody to connect.
    void accept_one() {
        pollfd waiting{listener_, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(step.count())) != 1) return;
        int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        int const server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto const address = address_of(target_);
        auto const* const raw = reinterpret_cast<sockaddr const*>(&address);
        if (client < 0 || ::connect(server, raw, sizeof address) != 0) {
            ::close(client);
            ::close(server);
            return;
        }
        ways_.push_back({client, server, true});
        ways_.push_back({server, client, false});
    }

    void take(Way& way) {
        char buffer[65'536];
        auto const size = ::recv(way.from, buffer, sizeof buffer, MSG_DONTWAIT);
        if (size == 0) ::shutdown(way.to, SHUT_WR);
        if (size <= 0) return;
        auto const count = static_cast<std::size_t>(size);
        way.under_way.emplace_back(Clock::now() + delay_, std::string{buffer, count});
        if (way.upwards) ++seen_;
    }

    void deliver(Way& way) {
        while (!way.under_way.empty() && way.under_way.front().first <= Clock::now()) {
            auto const bytes = std::move(way.under_way.front().second);
            way.under_way.pop_front();
            (void)::send(way.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        }
    }

    TemporaryFolder folder_;
    std::string const target_;
    std::string const socket_;
    std::chrono::milliseconds const delay_;
    int const listener_;
    std::atomic<bool> ending_ = false;
    std::atomic<std::size_t> seen_ = 0;
    std::list<Way> ways_;  // Of the thread.
    std::thread thread_;
};

}  // namespace rollcall::test

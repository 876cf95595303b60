#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
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
/// takes `delay` in either direction, and which breaks on request.
///
/// Thread safety: all members.
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

    /// What a client sends from the next piece on that contains `word` stays on its way, also when
    /// the client has gone. Other connections, and answers, pass.
    void hold_from(std::string word) {
        std::lock_guard const lock{mutex_};
        word_ = std::move(word);
    }
    bool holds() const { return held_ > 0; }
    void let_go() { letting_go_ = true; }  ///< And wait for `holds` to end.
    /// From now on what is connected now gets an answer's next byte every `pace`.
    void trickle() { trickling_ = true; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds step{1};
    static constexpr std::chrono::milliseconds pace{300};

    struct Way {
        int from = -1;
        int to = -1;
        bool upwards = false;
        std::deque<std::pair<Clock::time_point, std::string>> under_way = {};
        bool held = false;
        bool trickles = false;
        bool ended = false;
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
            if (trickling_.exchange(false)) {
                for (auto& way : ways_) way.trickles = !way.upwards;
            }
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
        if (size == 0 && !std::exchange(way.ended, true)) way.under_way.push_back({});
        if (size <= 0) return;
        std::string piece{buffer, static_cast<std::size_t>(size)};
        if (way.upwards) {
            ++seen_;
            if (is_to_be_held(piece)) {
                way.held = true;
                ++held_;
            }
        }
        way.under_way.emplace_back(Clock::now() + delay_, std::move(piece));
    }

    bool is_to_be_held(std::string const& piece) {
        std::lock_guard const lock{mutex_};
        if (word_.empty() || piece.find(word_) == piece.npos) return false;
        word_.clear();
        return true;
    }

    void deliver(Way& way) {
        if (way.held && !letting_go_) return;
        while (!way.under_way.empty() && way.under_way.front().first <= Clock::now()) {
            auto& [at, bytes] = way.under_way.front();
            if (bytes.empty()) ::shutdown(way.to, SHUT_WR);
            if (way.trickles && !bytes.empty()) {
                (void)::send(way.to, bytes.data(), 1, MSG_NOSIGNAL);
                bytes.erase(0, 1);
                at = Clock::now() + pace;
                if (!bytes.empty()) return;
            } else {
                (void)::send(way.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            }
            way.under_way.pop_front();
        }
        if (std::exchange(way.held, false)) --held_;
    }

    TemporaryFolder folder_;
    std::string const target_;
    std::string const socket_;
    std::chrono::milliseconds const delay_;
    int const listener_;
    std::atomic<bool> ending_ = false;
    std::atomic<std::size_t> seen_ = 0;
    std::atomic<int> held_ = 0;
    std::atomic<bool> letting_go_ = false;
    std::atomic<bool> trickling_ = false;
    std::mutex mutex_;
    std::string word_;     // Under the mutex.
    std::list<Way> ways_;  // Of the thread.
    std::thread thread_;
};

}  // namespace rollcall::test

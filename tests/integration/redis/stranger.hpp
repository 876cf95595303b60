#pragma once

#include <arpa/inet.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rollcall::test {

/// What a stranger on the port of Redis does with each connection, one after the other.
class Stranger {
public:
    explicit Stranger(std::function<void(int)> meet)
        : meet_(std::move(meet)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        EXPECT_TRUE(::bind(listener_, plain, size) == 0 && ::listen(listener_, 16) == 0 &&
                    ::getsockname(listener_, plain, &size) == 0);
        url_ = "redis://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        thread_ = std::thread{[this] { serve(); }};
    }
    ~Stranger() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    Stranger(Stranger const&) = delete;
    Stranger& operator=(Stranger const&) = delete;

    std::string const& url() const { return url_; }

private:
    void serve() const {
        for (;;) {
            auto const peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (peer < 0) return;
            meet_(peer);
            ::close(peer);
        }
    }

    std::function<void(int)> meet_;
    int listener_;
    std::string url_;
    std::thread thread_;
};

/// Until the other side closes the connection.
inline void wait_for_end(int peer) {
    char bytes[4'096];
    while (::recv(peer, bytes, sizeof bytes, 0) > 0) continue;
}

}  // namespace rollcall::test

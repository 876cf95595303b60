// Runs an event loop of another Boost.Asio than the library's while the library works.
// clang-format off
#include <utility>  // in front of Asio 1.74, which forgets it
// clang-format on
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/system/system_error.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "rollcall/streaming.hpp"

static_assert(BOOST_VERSION == OTHER_BOOST_VERSION, "the library must not show its own Boost");

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// Its own timer and sockets: the services that two copies of Asio would confuse.
class Loop {
public:
    Loop() : timer_{io_}, here_{io_}, there_{io_} {
        asio::local::connect_pair(here_, there_);
        tick();
        thread_ = std::thread{[this] { io_.run(); }};
    }
    ~Loop() {
        io_.stop();
        thread_.join();
    }
    int rounds() const { return rounds_; }

private:
    void tick() {
        timer_.expires_after(1ms);
        timer_.async_wait([this](boost::system::error_code error) {
            if (!error) send();
        });
    }
    void send() {
        asio::async_write(here_, asio::buffer(out_), [](boost::system::error_code, std::size_t) {});
        asio::async_read(there_, asio::buffer(in_), [this](boost::system::error_code, std::size_t) {
            if (in_ == out_) ++rounds_;
            tick();
        });
    }

    asio::io_context io_;
    asio::steady_timer timer_;
    asio::local::stream_protocol::socket here_;
    asio::local::stream_protocol::socket there_;
    std::array<char, 4> out_{'p', 'i', 'n', 'g'};
    std::array<char, 4> in_{};
    std::atomic<int> rounds_{0};
    std::thread thread_;
};

bool catches_its_own_exceptions() {
    asio::io_context io;
    asio::ip::tcp::socket closed{io};
    try {
        closed.non_blocking(true);
    } catch (boost::system::system_error const& error) {
        return error.code() == asio::error::bad_descriptor;
    }
    return false;
}

}  // namespace

int main() {
    Loop loop;
    rollcall::Client client;
    rollcall::streaming::RedisNamingService naming{client};
    naming.start();
    rollcall::ServiceInstance orders{.service_name = "orders", .host = "10.0.0.5", .port = 8080};
    for (int i = 0; i < 200; ++i) {
        orders.instance_id = "orders-" + std::to_string(i);
        naming.register_instance(orders);
    }
    auto const found = naming.all_instances("orders").size();
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (loop.rounds() < 20 && std::chrono::steady_clock::now() < deadline) {
        naming.all_instances("orders");
    }
    std::printf("Boost %d here: %d rounds; %zu instances found\n", BOOST_VERSION, loop.rounds(),
                found);
    return found == 200 && loop.rounds() >= 20 && catches_its_own_exceptions() ? 0 : 1;
}

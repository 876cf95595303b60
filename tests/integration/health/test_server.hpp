#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <string>
#include <thread>

#include "rollcall/instance.hpp"

namespace rollcall::test {

/// Accepts one connection after the other on an address in 127/8, and does with each what it was
/// told to, until that returns or the peer has gone.
class TestServer {
public:
    using Socket = boost::asio::ip::tcp::socket;
    using Behaviour = std::function<void(Socket&)>;

    explicit TestServer(Behaviour behaviour, std::string address = "127.0.0.1");
    ~TestServer();
    TestServer(TestServer const&) = delete;
    TestServer& operator=(TestServer const&) = delete;

    ServiceInstance instance(std::string scheme) const;
    int accepted() const { return accepted_; }

private:
    void serve();

    boost::asio::io_context loop_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::string address_;
    Behaviour behaviour_;
    std::atomic<bool> ending_ = false;
    std::atomic<int> accepted_ = 0;
    std::thread thread_;
};

/// Reads a request, answers it.
TestServer::Behaviour answering(std::string answer);

/// Says nothing, and reads until the peer has gone.
void stay_silent(TestServer::Socket& socket);

/// Sends a byte every 20 ms until the peer has gone.
void trickle(TestServer::Socket& socket);

/// Answers over TLS, with a certificate for `localhost` that it signed itself, in PEM.
struct TlsSite {
    TlsSite();

    TestServer::Behaviour answering(std::string answer);

    std::string certificate;
    boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

/// Where nobody listens.
ServiceInstance refusing_instance(std::string scheme);

}  // namespace rollcall::test

#include "cli/own_address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <boost/asio/ip/address.hpp>
#include <future>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "redis/client_core.hpp"
#include "redis/signal_block.hpp"

namespace rollcall::cli {

namespace {

std::string to_text(sockaddr const* address) {
    char text[INET6_ADDRSTRLEN] = {};
    if (address->sa_family == AF_INET) {
        auto const* v4 = reinterpret_cast<sockaddr_in const*>(address);
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    } else if (address->sa_family == AF_INET6) {
        auto const* v6 = reinterpret_cast<sockaddr_in6 const*>(address);
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    }
    return text;
}

/// `core` outlives the coroutine, which runs in `ClientCore::run`.
Task<Result<std::string>> connected_address(redis::ClientCore& core, Deadline deadline) {
    redis::Request ping;
    ping.push("PING");
    redis::Response response;
    // Whatever the answer is: what counts is whether there is a connection now.
    (void)co_await core.session().exec(ping, response, deadline);
    co_return core.session().local_address();
}

std::string local_end(redis::ClientCore& core, Deadline deadline) {
    if (!core.url().unix_socket.empty()) return {};
    // A part of the time is kept for asking the routing table.
    auto const most = (deadline - std::chrono::steady_clock::now()) * 3 / 4;
    auto const connected = core.run([&core, most] { return connected_address(core, after(most)); });
    if (connected && !connected->empty()) return *connected;
    return route_address(core.url().host, core.url().port, deadline);
}

/// A datagram socket connects without sending anything.
std::string local_end_towards(addrinfo const& target) {
    auto const socket = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return {};
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    bool const known = ::connect(socket, target.ai_addr, target.ai_addrlen) == 0 &&
                       ::getsockname(socket, plain, &size) == 0;
    ::close(socket);
    return known ? to_text(plain) : "";
}

std::string towards(std::string const& host, int port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* list = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) return {};
    std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> const owner{list, freeaddrinfo};
    for (auto const* one = list; one; one = one->ai_next) {
        if (auto address = local_end_towards(*one); !address.empty()) return address;
    }
    return {};
}

}  // namespace

std::string own_address(redis::ClientCore& core, Deadline deadline) {
    if (auto const address = local_end(core, deadline); !is_local_only(address)) return address;
    if (auto const addresses = interface_addresses(); !addresses.empty()) return addresses.front();
    throw UsageError{
        "--host: this machine has no address but loopback; give --host or ROLLCALL_HOST"};
}

bool is_local_only(std::string const& text) {
    boost::system::error_code error;
    auto const address = asio::ip::make_address(text, error);
    return error || address.is_loopback() || address.is_unspecified();
}

std::vector<std::string> interface_addresses() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owner{list, freeifaddrs};
    std::vector<std::string> v4;
    std::vector<std::string> v6;
    for (auto const* one = list; one; one = one->ifa_next) {
        if (!one->ifa_addr || !(one->ifa_flags & IFF_UP)) continue;
        auto const text = to_text(one->ifa_addr);
        if (text.empty() || is_local_only(text)) continue;
        auto const address = asio::ip::make_address(text);
        if (address.is_v4()) {
            v4.push_back(text);
        } else if (!address.to_v6().is_link_local()) {
            v6.push_back(text);
        }
    }
    v4.insert(v4.end(), v6.begin(), v6.end());
    return v4;
}

std::string route_address(std::string const& host, int port, Deadline deadline) {
    // Nothing interrupts a name resolution, so a thread of its own waits for it; what that thread
    // uses belongs to it.
    std::promise<std::string> promise;
    auto answer = promise.get_future();
    redis::SignalBlock const block;
    std::thread{[host, port, promise = std::move(promise)]() mutable {
        promise.set_value(towards(host, port));
    }}.detach();
    if (answer.wait_until(deadline) != std::future_status::ready) return {};
    return answer.get();
}

}  // namespace rollcall::cli

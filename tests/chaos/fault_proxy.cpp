#include "chaos/fault_proxy.hpp"

#include <cstring>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace rollcall::chaos {
namespace {

constexpr int most_waiting = 128;
constexpr std::chrono::milliseconds step{1};

sockaddr_un address_of(std::string const& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error{"long path " + path};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

int connected_to(std::string const& path) {
    auto const address = address_of(path);
    int const descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto const* const raw = reinterpret_cast<sockaddr const*>(&address);
    if (descriptor >= 0 && ::connect(descriptor, raw, sizeof address) == 0) return descriptor;
    if (descriptor >= 0) ::close(descriptor);
    return -1;
}

}  // namespace

FaultProxy::FaultProxy(std::string target)
    : target_(std::move(target)),
      socket_((folder_.path() / "proxy.sock").string()),
      listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    auto const address = address_of(socket_);
    auto const* const raw = reinterpret_cast<sockaddr const*>(&address);
    if (::bind(listener_, raw, sizeof address) != 0 || ::listen(listener_, most_waiting) != 0) {
        throw std::runtime_error{"no proxy at " + socket_};
    }
    thread_ = std::thread{[this] { run(); }};
}

FaultProxy::~FaultProxy() {
    ending_ = true;
    thread_.join();
    close_all();
    ::close(listener_);
}

void FaultProxy::set_delay(std::chrono::milliseconds by) {
    delay_ms_ = static_cast<int>(by.count());
}

void FaultProxy::run() {
    while (!ending_) {
        pollfd waiting{listener_, POLLIN, 0};
        (void)::poll(&waiting, 1, static_cast<int>(step.count()));
        if (cut_.exchange(false)) close_all();
        accept_one();
        if (silent_) continue;
        for (auto& way : ways_) {
            take(way);
            deliver(way);
        }
        close_ended();
    }
}

void FaultProxy::accept_one() {
    int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int const server = connected_to(target_);
    if (server < 0) {
        ::close(client);
        return;
    }
    ways_.push_back({client, server});
    ways_.push_back({server, client});
}

void FaultProxy::close_all() {
    for (auto const& way : ways_) ::close(way.from);
    ways_.clear();
}

void FaultProxy::close_ended() {
    for (auto at = ways_.begin(); at != ways_.end();) {
        auto const back = std::next(at);
        auto const next = std::next(back);
        if (at->ended || back->ended) {
            ::close(at->from);
            ::close(back->from);
            ways_.erase(at, next);
        }
        at = next;
    }
}

void FaultProxy::take(Way& way) {
    char buffer[65'536];
    auto const size = ::recv(way.from, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) way.ended = true;
    if (size <= 0) return;
    way.under_way.emplace_back(Clock::now() + std::chrono::milliseconds{delay_ms_},
                               std::string{buffer, static_cast<std::size_t>(size)});
}

void FaultProxy::deliver(Way& way) {
    while (!way.under_way.empty() && way.under_way.front().first <= Clock::now()) {
        auto& bytes = way.under_way.front().second;
        auto const sent = ::send(way.to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return;  // Full: later.
        bytes.erase(0, static_cast<std::size_t>(sent));
        if (!bytes.empty()) return;
        way.under_way.pop_front();
    }
}

}  // namespace rollcall::chaos

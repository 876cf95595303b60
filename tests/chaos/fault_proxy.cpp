#include "chaos/fault_proxy.hpp"

#include <csignal>
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

pid_t user_of(int client) {
    ucred user{};
    socklen_t size = sizeof user;
    ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &user, &size);
    return user.pid;
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

void FaultProxy::cut() {
    cut_ = true;
    while (cut_) std::this_thread::sleep_for(step);
}

bool FaultProxy::all_connected() {
    std::lock_guard const lock{mutex_};
    return watch_.missing().empty();
}

ConnectionWatch FaultProxy::watched() {
    std::lock_guard const lock{mutex_};
    return watch_;
}

void FaultProxy::run() {
    while (!ending_) {
        pollfd waiting{listener_, POLLIN, 0};
        (void)::poll(&waiting, 1, static_cast<int>(step.count()));
        std::lock_guard const lock{mutex_};
        if (cut_) close_all();
        cut_ = false;
        accept_one();
        note_who_left();
        be_silent(silent_);
        watch_users();
        connections_ = ways_.size() / 2;
        if (was_silent_) continue;
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
        watch_.way_was_broken(Clock::now());
        ::close(client);
        return;
    }
    auto const user = user_of(client);
    ways_.push_back({client, server, user, true});
    ways_.push_back({server, client, user, false});
    // Who connects again has left the old one before.
    note_who_left();
    watch_.opened(user, Clock::now());
}

void FaultProxy::close(std::list<Way>::iterator first) {
    auto const back = std::next(first);
    auto const& of_user = first->of_user ? *first : *back;
    if (of_user.counted) watch_.closed(of_user.user, Clock::now());
    ::close(first->from);
    ::close(back->from);
    ways_.erase(first, std::next(back));
}

void FaultProxy::close_all() {
    while (!ways_.empty()) close(ways_.begin());
}

void FaultProxy::close_ended() {
    for (auto at = ways_.begin(); at != ways_.end();) {
        auto const first = at;
        std::advance(at, 2);
        if (first->ended || std::next(first)->ended) close(first);
    }
}

void FaultProxy::note_who_left() {
    for (auto& way : ways_) {
        if (!way.of_user || !way.counted) continue;
        pollfd waiting{way.from, POLLRDHUP, 0};
        if (::poll(&waiting, 1, 0) <= 0) continue;
        note_silence_of(way);
        watch_.closed(way.user, Clock::now());
        way.counted = false;
    }
}

/// Those that have not noticed until the end need at least so long.
void FaultProxy::note_silence_of(Way& way) {
    if (!way.silent_from) return;
    auto const waited = longest_wait(waited_before_[way.user], waiting_times(way.user));
    watch_.noticed(*way.silent_from, Clock::now(), waited);
    way.silent_from.reset();
}

void FaultProxy::be_silent(bool on) {
    auto const now = Clock::now();
    if (on || was_silent_) watch_.way_was_broken(now);
    if (on == std::exchange(was_silent_, on)) return;
    for (auto& way : ways_) {
        if (!way.of_user || !way.counted) continue;
        if (on) {
            way.silent_from = now;
            waited_before_[way.user] = waiting_times(way.user);
        } else {
            note_silence_of(way);
        }
    }
}

void FaultProxy::watch_users() {
    for (auto const user : watch_.missing()) {
        if (::kill(user, 0) != 0) watch_.ended(user);
    }
    watch_.look(Clock::now());
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

#include "support/round_trips.hpp"

#include <array>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace rollcall::test {
namespace {

constexpr int silence = 60;  // Milliseconds without a byte of the client.

sockaddr_un address_of(std::string const& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
}

int connected_to(std::string const& path) {
    int const socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    auto const address = address_of(path);
    if (::connect(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) {
        throw std::runtime_error{"cannot connect to " + path};
    }
    return socket;
}

bool write_all(int to, char const* data, std::size_t size) {
    while (size > 0) {
        auto const written = ::send(to, data, size, MSG_NOSIGNAL);
        if (written <= 0) return false;
        data += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace

RoundTrips::RoundTrips(RedisServer const& server, std::chrono::seconds offset)
    : offset_(offset), target_(server.socket()), path_((folder_.path() / "counted.sock").string()) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    auto const address = address_of(path_);
    if (::bind(listener_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 4) != 0) {
        throw std::runtime_error{"cannot listen on " + path_};
    }
    thread_ = std::thread{[this] { serve(); }};
}

RoundTrips::~RoundTrips() {
    ending_ = true;
    thread_.join();
    ::close(listener_);
}

/// One client at a time.
void RoundTrips::serve() {
    while (!ending_) {
        pollfd wait{listener_, POLLIN, 0};
        if (::poll(&wait, 1, 10) <= 0) continue;
        int const client = ::accept(listener_, nullptr, nullptr);
        int const server = connected_to(target_);
        forward(client, server);
        ::close(client);
        ::close(server);
    }
}

/// Two texts of which the first has ten digits are the time: nothing else here looks like that.
std::string RoundTrips::shifted(std::string answers) const {
    if (offset_.count() == 0) return answers;
    constexpr std::string_view head = "*2\r\n$10\r\n";
    for (auto at = answers.find(head); at != std::string::npos; at = answers.find(head, at + 1)) {
        auto const begin = at + head.size();
        auto const time = std::stoll(answers.substr(begin, 10)) + offset_.count();
        answers.replace(begin, 10, std::to_string(time));
    }
    return answers;
}

void RoundTrips::forward(int client, int server) {
    std::string held;
    std::array<char, 65'536> buffer{};
    while (!ending_) {
        std::array<pollfd, 2> wait{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
        int const ready = ::poll(wait.data(), wait.size(), held.empty() ? 100 : silence);
        if (ready == 0 && !held.empty()) {
            ++count_;
            auto const answers = shifted(std::exchange(held, {}));
            if (!write_all(client, answers.data(), answers.size())) return;
            continue;
        }
        if ((wait[0].revents & (POLLIN | POLLHUP)) != 0) {
            auto const size = ::read(client, buffer.data(), buffer.size());
            if (size <= 0 || !write_all(server, buffer.data(), static_cast<std::size_t>(size))) {
                return;
            }
        }
        if ((wait[1].revents & (POLLIN | POLLHUP)) != 0) {
            auto const size = ::read(server, buffer.data(), buffer.size());
            if (size <= 0) return;
            held.append(buffer.data(), static_cast<std::size_t>(size));
        }
    }
}

}  // namespace rollcall::test

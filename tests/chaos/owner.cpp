#include "chaos/owner.hpp"

#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace rollcall::chaos {
namespace {

constexpr int first_port = 10'000;

}  // namespace

Layout Fleet::make_layout() const {
    return layout == "cosky" ? cosky_layout(space(), lease) : streaming_layout(space(), lease);
}

int port_of(int number) { return first_port + number; }

std::string id_of(Fleet const& fleet, std::string const& service, int number) {
    auto const port = std::to_string(port_of(number));
    return fleet.layout == "cosky" ? service + "@http#10.0.0.5#" + port : service + '-' + port;
}

std::string key_of(Fleet const& fleet, std::string const& service, std::string const& id) {
    if (fleet.layout == "cosky") return fleet.space() + ":svc_itc:" + id;
    return fleet.space() + ":services:" + service + ":instance:" + id;
}

Owner::Owner(Fleet const& fleet, std::string const& url, OwnerKind kind) : kind_(kind) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
        throw std::runtime_error{"no pipes"};
    }
    auto const lease = std::to_string(fleet.lease.count());
    auto const heartbeat = std::to_string(fleet.heartbeat.count());
    char const* const arguments[] = {"chaos",
                                     "--owner",
                                     url.c_str(),
                                     fleet.layout.c_str(),
                                     lease.c_str(),
                                     heartbeat.c_str(),
                                     kind == OwnerKind::announcer ? "announcer" : "recorded",
                                     nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::execv("/proc/self/exe", const_cast<char* const*>(arguments));
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = out[0];
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    if (pid_ < 0) throw std::runtime_error{"no process"};
}

Owner::Owner(Owner&& other) noexcept
    : kind_(other.kind_),
      pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      rest_(std::move(other.rest_)) {}

Owner::~Owner() {
    if (pid_ > 0) kill();
    if (input_ >= 0) ::close(input_);
    if (output_ >= 0) ::close(output_);
}

void Owner::kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Owner::send(std::string const& line) const {
    auto const text = line + '\n';
    (void)!::write(input_, text.data(), text.size());
}

void Owner::add(std::string const& service, int number) {
    send("add " + service + ' ' + std::to_string(number));
}
void Owner::change(std::string const& service, int number, int value) {
    send("change " + service + ' ' + std::to_string(number) + ' ' + std::to_string(value));
}
void Owner::remove(std::string const& service, int number) {
    send("remove " + service + ' ' + std::to_string(number));
}

std::vector<std::string> Owner::said() {
    char buffer[16'384];
    for (auto size = ::read(output_, buffer, sizeof buffer); size > 0;
         size = ::read(output_, buffer, sizeof buffer)) {
        rest_.append(buffer, static_cast<std::size_t>(size));
    }
    std::vector<std::string> lines;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
        lines.push_back(rest_.substr(0, end));
        rest_.erase(0, end + 1);
    }
    return lines;
}

}  // namespace rollcall::chaos

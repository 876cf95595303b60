#include "child.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rollcall::test {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void tell(std::string const& line) {
    auto const text = line + '\n';
    (void)!::write(STDOUT_FILENO, text.data(), text.size());
}

struct Words {
    std::vector<std::string> const& list;

    bool has(std::string const& word) const {
        for (auto const& one : list) {
            if (one == word) return true;
        }
        return false;
    }
    std::optional<std::string> value(std::string const& name) const {
        for (auto const& one : list) {
            if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
        }
        return std::nullopt;
    }
    int number(std::string const& name, int otherwise) const {
        auto const text = value(name);
        return text ? std::atoi(text->c_str()) : otherwise;
    }
};

std::string status_line(std::string const& name) {
    std::ifstream file{"/proc/self/status"};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return line;
    }
    return {};
}

void show(std::vector<std::string> const& words) {
    for (auto const& word : words) tell("argument " + word);
    for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) >= 0) tell("descriptor " + std::to_string(descriptor));
    }
    for (auto const* name : {"SigBlk", "SigIgn"}) tell(status_line(name));
    int number = 0;
    ::prctl(PR_GET_PDEATHSIG, &number);
    tell("death " + std::to_string(number));
    tell(::getpgrp() == ::getpid() ? "group own" : "group other");
    auto const* url = std::getenv("ROLLCALL_URL");
    tell(url ? std::string{"url "} + url : "no url");
}

int listen_on(int port) {
    auto const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket, 16) != 0) {
        std::perror("listen");
        std::exit(99);
    }
    return socket;
}

void answer(int listener, Words const& words) {
    auto const peer = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0 || words.has("mute")) return;
    auto const sick = words.value("sick");
    char request[2'048];
    pollfd ready{peer, POLLIN, 0};
    // Who only connects sends nothing and closes.
    if (::poll(&ready, 1, 500) == 1 && ::read(peer, request, sizeof request) > 0) {
        std::string const head = sick && std::filesystem::exists(*sick)
                                     ? "HTTP/1.1 503 Service Unavailable"
                                     : "HTTP/1.1 200 OK";
        auto const text = head + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        (void)!::write(peer, text.data(), text.size());
    }
    ::close(peer);
}

sigset_t all_signals() {
    sigset_t signals;
    sigfillset(&signals);
    for (int const number : {SIGABRT, SIGSEGV, SIGTSTP, SIGCONT}) sigdelset(&signals, number);
    return signals;
}

void start_orphan() {
    auto const parent = ::fork();
    if (parent == 0) {
        auto const orphan = ::fork();
        if (orphan == 0) {
            ::poll(nullptr, 0, 200);
            ::_exit(0);
        }
        tell("orphan " + std::to_string(orphan));
        ::_exit(0);
    }
    ::waitpid(parent, nullptr, 0);
}

void start_grandchild() {
    auto const grandchild = ::fork();
    if (grandchild == 0) {
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::poll(nullptr, 0, 60'000);
        ::_exit(0);
    }
    tell("grandchild " + std::to_string(grandchild));
}

class Child {
public:
    explicit Child(Words words) : words_(words), begin_(Clock::now()) {
        auto const signals = all_signals();
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
    }

    int run() {
        if (words_.has("orphan")) start_orphan();
        if (words_.has("grandchild")) start_grandchild();
        while (!done()) {
            pollfd ready[]{{signals_, POLLIN, 0}, {listener_, POLLIN, 0}};
            ::poll(ready, 2, 20);
            if (ready[0].revents) take_signal();
            if (listener_ >= 0 && ready[1].revents) answer(listener_, words_);
            if (listener_ < 0 && passed(words_.number("late", 0))) start_listening();
            if (words_.value("crash") && passed(words_.number("crash", 0))) std::abort();
        }
        return words_.number("code", 0);
    }

private:
    bool passed(int time) const { return Clock::now() - begin_ >= milliseconds{time}; }
    bool done() const { return end_ && Clock::now() >= *end_; }

    void start_listening() {
        auto const port = words_.value("port");
        if (!port) return;
        listener_ = listen_on(std::atoi(port->c_str()));
        tell("ready");
    }

    void take_signal() {
        signalfd_siginfo info{};
        if (::read(signals_, &info, sizeof info) != sizeof info) return;
        tell("signal " + std::to_string(info.ssi_signo));
        bool const ends = info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
        if (ends && !end_) end_ = Clock::now() + milliseconds{words_.number("linger", 0)};
    }

    Words words_;
    Clock::time_point begin_;
    std::optional<Clock::time_point> end_;
    int signals_ = -1;
    int listener_ = -1;
};

}  // namespace

int supervised(std::vector<std::string> const& list) {
    Words const words{list};
    if (words.has("show")) {
        show(list);
        return words.number("code", 0);
    }
    return Child{words}.run();
}

}  // namespace rollcall::test

#include "redis/redis_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "core/deadline.hpp"

namespace rollcall::redis {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_looks{10};
constexpr milliseconds ping_limit{1'000};
constexpr milliseconds for_ever = std::chrono::hours{24 * 365};
constexpr std::size_t last_words_lines = 5;
constexpr std::size_t last_words_bytes = 4'096;

std::string error_text(std::string_view what) {
    return std::string{what} + ": " + std::strerror(errno);
}

class Descriptor {
public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    ~Descriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;

    int get() const noexcept { return descriptor_; }
    int release() noexcept { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

std::string find_server() {
    std::string_view path = "/usr/local/bin:/usr/bin:/bin";
    if (auto const* set = std::getenv("PATH")) path = set;
    for (std::string_view const name : {"redis-server", "valkey-server"}) {
        for (auto rest = path; !rest.empty();) {
            auto const end = std::min(rest.find(':'), rest.size());
            auto candidate = std::filesystem::path{rest.substr(0, end)} / name;
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    throw std::runtime_error(
        "redis-server is not installed: install the package redis-server (Debian, Ubuntu) or "
        "redis, or give the URL of a running Redis");
}

/// What the child does between fork and exec: nothing that is not async-signal-safe.
[[noreturn]] void become_server(char const* program, int input, int output, int failure,
                                pid_t parent, std::vector<int> const& kept_open) {
    auto const fail = [failure] {
        auto const error = errno;
        [[maybe_unused]] auto const ignored = ::write(failure, &error, sizeof error);
        ::_exit(127);
    };
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);
    ::umask(077);  // Whatever it writes is for this user.
    ::setsid();    // A Ctrl-C in the terminal is for us; the server ends when we say so.
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) fail();
    ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    for (int const descriptor : kept_open) ::fcntl(descriptor, F_SETFD, 0);
    char const* const arguments[] = {"redis-server", "-", nullptr};
    ::execv(program, const_cast<char* const*>(arguments));
    fail();
    ::_exit(127);
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    return "exit code " + std::to_string(WEXITSTATUS(status));
}

/// What the server on `socket` answers to PING; empty when it does not.
std::string ask(std::filesystem::path const& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    auto const& path = socket.native();
    if (path.size() >= sizeof address.sun_path) return {};
    std::copy(path.begin(), path.end(), address.sun_path);
    Descriptor const connection{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connection.get() < 0) return {};
    timeval limit{};
    limit.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(ping_limit).count();
    ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    constexpr std::string_view ping = "PING\r\n";
    if (::connect(connection.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) ||
        ::send(connection.get(), ping.data(), ping.size(), MSG_NOSIGNAL) < 0) {
        return {};
    }
    char reply[128];
    auto const size = ::recv(connection.get(), reply, sizeof reply, 0);
    return size > 0 ? std::string(reply, static_cast<std::size_t>(size)) : std::string{};
}

std::string last_lines(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    auto begin = text.size();
    for (std::size_t lines = 0; lines < last_words_lines && begin != 0; ++lines) {
        auto const found = text.rfind('\n', begin - 1);
        begin = found == std::string::npos ? 0 : found;
    }
    return text.substr(std::min(text.find_first_not_of('\n', begin), text.size()));
}

}  // namespace

RedisProcess::RedisProcess(RedisProcessOptions options) : options_(std::move(options)) {
    auto const program = find_server();
    std::error_code missing;
    auto const size = std::filesystem::file_size(options_.log, missing);
    log_begin_ = missing ? 0 : size;
    spawn(program);
}

RedisProcess::RedisProcess(RedisProcess&& other) noexcept
    : options_(std::move(other.options_)),
      output_(std::exchange(other.output_, -1)),
      log_begin_(other.log_begin_),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      ended_(std::move(other.ended_)) {}

RedisProcess::~RedisProcess() {
    stop();
    if (pidfd_ >= 0) ::close(pidfd_);
    if (output_ >= 0) ::close(output_);
}

void RedisProcess::spawn(std::string const& program) {
    // Both are memory, not pipes: no size at which one side would wait for the other.
    Descriptor const input{::memfd_create("redis.conf", MFD_CLOEXEC)};
    Descriptor output{::memfd_create("redis-output", MFD_CLOEXEC)};
    auto const& config = options_.config;
    if (input.get() < 0 || output.get() < 0 ||
        ::pwrite(input.get(), config.data(), config.size(), 0) !=
            static_cast<ssize_t>(config.size())) {
        throw std::runtime_error(error_text("redis-server: cannot pass its configuration"));
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(error_text("redis-server: pipe"));
    Descriptor const told{ends[0]};
    Descriptor failure{ends[1]};
    auto const parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error(error_text("redis-server: fork"));
    if (pid_ == 0) {
        become_server(program.c_str(), input.get(), output.get(), failure.get(), parent,
                      options_.kept_open);
    }
    ::close(failure.release());
    output_ = output.release();
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(told.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof error) {
        wait_for_end(for_ever);
        throw std::runtime_error(program + ": " + std::strerror(error));
    }
}

void RedisProcess::wait_until_ready(milliseconds limit) {
    auto const end = after(limit);
    std::string answer;
    for (;;) {
        if (ended()) {
            throw std::runtime_error("redis-server ended at its start (" + *ended_ +
                                     "): " + last_words());
        }
        answer = ask(options_.socket);
        if (answer.starts_with("+PONG") || answer.starts_with("-NOAUTH")) return;
        if (std::chrono::steady_clock::now() >= end) break;
        wait_for_end(between_looks);
    }
    throw std::runtime_error(
        "redis-server did not become ready within " + std::to_string(limit.count()) +
        " ms: " + (answer.empty() ? last_words() : answer.substr(0, answer.find('\r'))));
}

std::optional<std::string> const& RedisProcess::ended() {
    wait_for_end(milliseconds::zero());
    return ended_;
}

bool RedisProcess::wait_for_end(milliseconds limit) {
    if (ended_ || pid_ < 0) return true;
    auto const start = std::chrono::steady_clock::now();
    for (;;) {
        int status = 0;
        auto const found = ::waitpid(pid_, &status, WNOHANG);
        if (found == pid_ || (found < 0 && errno == ECHILD)) {
            ended_ = found == pid_ ? describe(status) : "taken by another part of the program";
            return true;
        }
        auto const passed = std::chrono::steady_clock::now() - start;
        if (passed >= limit) return false;
        auto const left = std::chrono::duration_cast<milliseconds>(limit - passed);
        pollfd wait{pidfd_, POLLIN, 0};
        auto const step = std::min(left, pidfd_ >= 0 ? milliseconds{1'000} : between_looks);
        ::poll(&wait, 1, static_cast<int>(step.count()) + 1);
    }
}

void RedisProcess::stop(milliseconds patience) noexcept {
    if (pid_ < 0 || ended()) return;
    ::kill(pid_, SIGTERM);
    if (wait_for_end(patience)) return;
    ::kill(pid_, SIGKILL);
    wait_for_end(for_ever);
}

std::string RedisProcess::last_words() const {
    std::string text(last_words_bytes, '\0');
    auto const size = ::pread(output_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (std::ifstream log{options_.log}; log.seekg(static_cast<std::streamoff>(log_begin_))) {
        text += std::string{std::istreambuf_iterator<char>{log}, {}};
    }
    auto words = last_lines(std::move(text));
    return words.empty() ? "it said nothing" : words;
}

std::string config_argument(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (byte < 0x20 || byte >= 0x7f) {
            out += {'\\', 'x', hex[byte >> 4], hex[byte & 0xF]};
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace rollcall::redis

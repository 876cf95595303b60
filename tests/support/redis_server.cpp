#include "support/redis_server.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace rollcall::test {

namespace {

constexpr std::chrono::seconds start_limit{20};

std::string last_lines(std::filesystem::path const& file) {
    std::ifstream in{file};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    return text.size() > 2'000 ? text.substr(text.size() - 2'000) : text;
}

RedisClient::Reply convert(redisReply const& from) {
    using Kind = RedisClient::Reply::Kind;
    RedisClient::Reply to;
    switch (from.type) {
        case REDIS_REPLY_ERROR:
            to.kind = Kind::error;
            break;
        case REDIS_REPLY_INTEGER:
            to.kind = Kind::integer;
            to.integer = from.integer;
            to.text = std::to_string(from.integer);
            return to;
        case REDIS_REPLY_ARRAY:
            to.kind = Kind::array;
            for (std::size_t i = 0; i < from.elements; ++i) {
                to.elements.push_back(convert(*from.element[i]));
            }
            return to;
        case REDIS_REPLY_NIL:
            return to;
        default:
            to.kind = Kind::text;
    }
    to.text.assign(from.str, from.len);
    return to;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "rollcall-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error{"mkdtemp: " + pattern};
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

RedisServer::RedisServer(std::vector<std::string> config) : config_(std::move(config)) { start(); }

RedisServer::~RedisServer() { kill(); }

std::string RedisServer::socket() const { return (folder() / "redis.sock").string(); }

std::string RedisServer::url() const { return "unix://" + socket(); }

void RedisServer::launch(std::vector<std::string> const& config) {
    auto const file = folder() / "redis.conf";
    {
        std::ofstream out{file};
        out << "port 0\nunixsocket " << socket() << "\nunixsocketperm 700\nsave \"\"\ndir "
            << folder().string() << "\nlogfile " << (folder() / "redis.log").string() << '\n';
        for (auto const& line : config_) out << line << '\n';
        for (auto const& line : config) out << line << '\n';
    }
    auto const path = file.string();
    auto const parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error{"fork failed"};
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::execlp("redis-server", "redis-server", path.c_str(), nullptr);
        ::_exit(127);
    }
}

void RedisServer::start(std::vector<std::string> config) {
    launch(config);
    bool const answered = eventually(
        [&] {
            int status = 0;
            if (::waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                throw std::runtime_error{"redis-server ended at once (is it installed?): " +
                                         last_lines(folder() / "redis.log")};
            }
            if (!std::filesystem::exists(socket())) return false;
            try {
                auto const pong = RedisClient{socket()}.command({"PING"});
                return pong.text == "PONG" || pong.text.starts_with("NOAUTH") ||
                       pong.text.starts_with("NOPERM");
            } catch (std::runtime_error const&) {
                return false;
            }
        },
        start_limit);
    if (!answered) throw std::runtime_error{"redis-server does not answer"};
}

void RedisServer::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void RedisServer::signal(int number) const { ::kill(pid_, number); }

struct RedisClient::Impl {
    redisContext* context = nullptr;
    ~Impl() {
        if (context) ::redisFree(context);
    }
};

std::vector<std::string> RedisClient::Reply::texts() const {
    std::vector<std::string> result;
    for (auto const& element : elements) result.push_back(element.text);
    return result;
}

std::map<std::string, std::string> RedisClient::Reply::pairs() const {
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
        result[elements[i].text] = elements[i + 1].text;
    }
    return result;
}

RedisClient::RedisClient(RedisServer const& server) : RedisClient(server.socket()) {}

RedisClient::RedisClient(std::string const& socket) : impl_(std::make_unique<Impl>()) {
    impl_->context = ::redisConnectUnix(socket.c_str());
    if (!impl_->context || impl_->context->err) {
        throw std::runtime_error{std::string{"cannot connect: "} +
                                 (impl_->context ? impl_->context->errstr : "no memory")};
    }
}

RedisClient::RedisClient(std::string const& socket, std::chrono::milliseconds limit)
    : RedisClient(socket) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    timeval const time{.tv_sec = seconds.count(),
                       .tv_usec = std::chrono::microseconds{limit - seconds}.count()};
    if (::redisSetTimeout(impl_->context, time) != REDIS_OK) {
        throw std::runtime_error{"cannot set a limit"};
    }
}

RedisClient::~RedisClient() = default;
RedisClient::RedisClient(RedisClient&&) noexcept = default;
RedisClient& RedisClient::operator=(RedisClient&&) noexcept = default;

RedisClient::Reply RedisClient::command(std::vector<std::string> const& arguments) {
    std::vector<char const*> texts;
    std::vector<std::size_t> sizes;
    for (auto const& argument : arguments) {
        texts.push_back(argument.data());
        sizes.push_back(argument.size());
    }
    auto* raw = static_cast<redisReply*>(::redisCommandArgv(
        impl_->context, static_cast<int>(texts.size()), texts.data(), sizes.data()));
    if (!raw) throw std::runtime_error{std::string{"redis: "} + impl_->context->errstr};
    auto const reply = convert(*raw);
    ::freeReplyObject(raw);
    return reply;
}

RedisClient::Reply RedisClient::must(std::vector<std::string> const& arguments) {
    auto reply = command(arguments);
    if (reply.is_error()) throw std::runtime_error{arguments.front() + ": " + reply.text};
    return reply;
}

RedisClient::Reply RedisClient::receive(std::chrono::milliseconds limit) {
    auto const end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        void* raw = nullptr;
        if (::redisGetReplyFromReader(impl_->context, &raw) != REDIS_OK) {
            throw std::runtime_error{std::string{"redis: "} + impl_->context->errstr};
        }
        if (raw) {
            auto const reply = convert(*static_cast<redisReply*>(raw));
            ::freeReplyObject(raw);
            return reply;
        }
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd wait{impl_->context->fd, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return {};
        if (::redisBufferRead(impl_->context) != REDIS_OK) {
            throw std::runtime_error{std::string{"redis: "} + impl_->context->errstr};
        }
    }
}

Listener::Listener(RedisServer const& server, std::string_view pattern)
    : subscriber_(server), publisher_(server) {
    subscriber_.must({"PSUBSCRIBE", std::string{pattern}});
    subscriber_.must({"SUBSCRIBE", "rollcall-test-mark"});
}

std::vector<Listener::Message> Listener::drain() {
    // Redis delivers in the order of publication: once the mark is here, all before it are.
    auto const mark = std::to_string(++marks_);
    publisher_.must({"PUBLISH", "rollcall-test-mark", mark});
    std::vector<Message> messages;
    for (;;) {
        auto const reply = subscriber_.receive(std::chrono::seconds{10});
        if (reply.elements.empty()) throw std::runtime_error{"the listener hears nothing"};
        auto const& kind = reply.elements.front().text;
        if (kind == "message" && reply.elements.at(2).text == mark) break;
        if (kind != "pmessage") continue;
        auto const& channel = reply.elements.at(2).text;
        if (channel != "rollcall-test-mark") {
            messages.push_back({channel, reply.elements.at(3).text});
        }
    }
    return messages;
}

void pause_between_looks() { ::usleep(2'000); }

}  // namespace rollcall::test

#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace rollcall::test {

/// A folder under the temporary directory that goes away with its owner.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;

    std::filesystem::path const& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A redis-server of this test alone, on a unix socket in a temporary folder, without persistence
/// unless the configuration says otherwise. Ends with its owner, and with the test program however
/// that ends.
class RedisServer {
public:
    /// `config` are further lines of redis.conf. Throws when the server does not answer in time.
    explicit RedisServer(std::vector<std::string> config = {});
    ~RedisServer();
    RedisServer(RedisServer const&) = delete;
    RedisServer& operator=(RedisServer const&) = delete;

    std::string socket() const;
    std::string url() const;  ///< `unix://…`
    std::filesystem::path const& folder() const noexcept { return folder_.path(); }
    pid_t pid() const noexcept { return pid_; }

    void kill();                                          ///< SIGKILL, and waits for the end.
    void start(std::vector<std::string> config = {});     ///< Again, after `kill`; waits for PONG.
    void launch(std::vector<std::string> const& config);  ///< The same without waiting.
    void signal(int number) const;

private:
    TemporaryFolder folder_;
    std::vector<std::string> config_;
    pid_t pid_ = -1;
};

/// What a test asks of Redis behind the back of the code under test. Blocking; throws on a broken
/// connection; error replies are values.
class RedisClient {
public:
    struct Reply {
        enum class Kind { null, error, text, integer, array } kind = Kind::null;
        std::string text;  ///< Of a string, status, error or double.
        long long integer = 0;
        std::vector<Reply> elements;

        bool is_error() const noexcept { return kind == Kind::error; }
        /// Text forms of all elements.
        std::vector<std::string> texts() const;
        /// Elements taken as field, value, field, value…
        std::map<std::string, std::string> pairs() const;
    };

    explicit RedisClient(RedisServer const& server);
    explicit RedisClient(std::string const& socket);
    /// The same, but nothing waits for longer than `limit`.
    RedisClient(std::string const& socket, std::chrono::milliseconds limit);
    ~RedisClient();
    RedisClient(RedisClient&&) noexcept;
    RedisClient& operator=(RedisClient&&) noexcept;

    Reply command(std::vector<std::string> const& arguments);

    /// The same, where an error reply fails the test by an exception.
    Reply must(std::vector<std::string> const& arguments);

    /// The next pushed or pending reply, or a null one after `limit`.
    Reply receive(std::chrono::milliseconds limit);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Subscribed to all channels; collects what is published.
class Listener {
public:
    struct Message {
        std::string channel;
        std::string payload;
        friend bool operator==(Message const&, Message const&) = default;
    };

    explicit Listener(RedisServer const& server, std::string_view pattern = "*");

    /// All messages that were published before this call.
    std::vector<Message> drain();

private:
    RedisClient subscriber_;
    RedisClient publisher_;
    int marks_ = 0;
};

void pause_between_looks();

/// Whether `condition` comes true within `limit`; looks every few milliseconds.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds{5}) {
    auto const end = std::chrono::steady_clock::now() + limit;
    do {
        if (condition()) return true;
        pause_between_looks();
    } while (std::chrono::steady_clock::now() < end);
    return condition();
}

}  // namespace rollcall::test

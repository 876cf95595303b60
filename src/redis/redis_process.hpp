#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace rollcall::redis {

struct RedisProcessOptions {
    std::string config = {};  ///< The text of a redis.conf; must make it listen on `socket`.
    std::filesystem::path socket = {};  ///< Where it is asked whether it is ready.
    std::filesystem::path log = {};     ///< Its `logfile`, for error messages; may be empty.
    std::vector<int> kept_open = {};    ///< Descriptors that the child inherits; no others.
};

/// A `redis-server` as a child: fed its configuration on standard input, outside of our terminal's
/// process group, and gone when its parent dies in any way.
///
/// Thread safety: one thread at a time. The kernel ends the child with the *thread* that made this,
/// so make it on one that lives as long as the process. Nobody else may wait for this child.
class RedisProcess {
public:
    /// Errors: `std::runtime_error` when no server program is installed or it cannot be started.
    explicit RedisProcess(RedisProcessOptions options);
    ~RedisProcess();
    RedisProcess(RedisProcess&& other) noexcept;
    RedisProcess& operator=(RedisProcess&&) = delete;

    /// Waits until it answers PONG, at most `limit`, which covers the time that it loads data.
    /// Errors: `std::runtime_error` with its own last words when it ends or stays silent.
    void wait_until_ready(std::chrono::milliseconds limit);

    pid_t pid() const noexcept { return pid_; }
    /// Becomes readable when the child ends; for `poll`. -1 where the kernel has none.
    int end_descriptor() const noexcept { return pidfd_; }
    /// How it ended, as in "exit code 1" or "signal 9"; none while it runs.
    std::optional<std::string> const& ended();

    /// SIGTERM, and SIGKILL if it is still there after `patience`.
    void stop(std::chrono::milliseconds patience = std::chrono::seconds{5}) noexcept;

private:
    void spawn(std::string const& program);
    bool wait_for_end(std::chrono::milliseconds limit);
    std::string last_words() const;

    RedisProcessOptions options_;
    int output_ = -1;  // What it wrote before it opened its log file.
    std::uintmax_t log_begin_ = 0;
    pid_t pid_ = -1;
    int pidfd_ = -1;
    std::optional<std::string> ended_;
};

/// `value` as one argument in a redis.conf.
std::string config_argument(std::string_view value);

}  // namespace rollcall::redis

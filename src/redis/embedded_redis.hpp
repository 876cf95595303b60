#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "redis/file_lock.hpp"
#include "redis/redis_process.hpp"
#include "redis/url.hpp"

namespace rollcall::redis {

struct EmbeddedRedisOptions {
    std::filesystem::path data = {};  ///< Where it keeps its data; made when missing.
    /// Empty: where other commands of this user look for it, see `embedded_socket`.
    std::filesystem::path socket = {};
    /// Until it answers; loading a large data set counts.
    std::chrono::milliseconds start_limit = std::chrono::minutes{2};
};

/// A private Redis for this process alone: a child on a unix socket that only this user may open,
/// append-only in its data directory, gone when this process ends in any way.
///
/// Thread safety and the thread to make it on: see `RedisProcess`.
class EmbeddedRedis {
public:
    /// Waits until the server answers.
    ///
    /// Errors: `std::invalid_argument` for a data directory or socket that cannot be one, and for a
    /// directory that cannot be written to, belongs to another user, or is writable by others;
    /// `std::runtime_error` when they are in use by another process, when no redis-server is
    /// installed, or when it does not start. Each names the directory and the reason.
    explicit EmbeddedRedis(EmbeddedRedisOptions options);
    ~EmbeddedRedis();

    Url const& url() const noexcept { return url_; }
    pid_t pid() const noexcept { return process_->pid(); }
    /// Becomes readable when the server ends; for `poll`.
    int end_descriptor() const noexcept { return process_->end_descriptor(); }
    /// How the server ended; none while it runs.
    std::optional<std::string> const& ended() { return process_->ended(); }
    /// Ends it in order. Errors: none.
    void stop() noexcept { process_->stop(); }

private:
    Url url_;
    // The server inherits both, so that they are free only when it is really gone.
    FileLock data_lock_;
    FileLock socket_lock_;
    std::optional<RedisProcess> process_;
};

}  // namespace rollcall::redis

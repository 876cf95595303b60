#include "redis/embedded_redis.hpp"

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/text.hpp"
#include "redis/runtime_directory.hpp"

namespace rollcall::redis {
namespace {

namespace fs = std::filesystem;

constexpr auto log_name = "redis.log";

std::string named(fs::path const& directory) {
    return "data directory " + shown(directory.native());
}

[[noreturn]] void refuse_unwritable(fs::path const& given, std::error_code error) {
    throw std::invalid_argument(named(given) +
                                ": must be a directory that can be written to: " + error.message());
}

/// Redis follows a link in the place of its files, so nobody else may put one there.
void check_safety(fs::path const& given, fs::path const& data) {
    struct stat info{};
    if (::stat(data.c_str(), &info) != 0) {
        refuse_unwritable(given, {errno, std::generic_category()});
    }
    if (info.st_uid != ::geteuid()) {
        throw std::invalid_argument(named(given) + ": must not belong to another user");
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        throw std::invalid_argument(named(given) +
                                    ": must not be writable by others (chmod go-w cures it)");
    }
    if (::lstat((data / log_name).c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
        throw std::invalid_argument(named(given) + ": its " + log_name +
                                    " must be a regular file, not a link or anything else");
    }
}

fs::path prepare_data(fs::path const& given) {
    if (given.empty()) throw std::invalid_argument("data directory: must not be empty");
    if (given.native().find('\0') != std::string::npos) {
        throw std::invalid_argument(named(given) + ": must not hold NUL");
    }
    std::error_code error;
    auto const data = fs::absolute(given, error);
    auto const status = fs::status(data, error);
    if (fs::exists(status) && !fs::is_directory(status)) {
        throw std::invalid_argument(named(given) + ": is not a directory");
    }
    auto const made = fs::create_directories(data, error);
    if (error == std::errc::not_a_directory) {
        throw std::invalid_argument(named(given) + ": a part of the path is not a directory");
    }
    if (made) fs::permissions(data, fs::perms::owner_all, error);
    if (error) refuse_unwritable(given, error);
    check_safety(given, data);
    return data;
}

FileLock lock_data(fs::path const& given, fs::path const& data) {
    try {
        return FileLock{data / "rollcall.lock", named(given), "give another directory"};
    } catch (std::system_error const& error) {
        refuse_unwritable(given, error.code());
    }
}

fs::path prepare_socket(fs::path const& given) {
    auto const socket = given.empty() ? embedded_socket() : fs::absolute(given);
    if (socket.native().size() > longest_socket_path) {
        throw std::invalid_argument("socket " + shown(socket.native()) +
                                    ": must be at most 107 bytes");
    }
    prepare_private_directory(socket.parent_path());
    return socket;
}

/// Call with the socket's lock held: then nobody listens on it.
void remove_stale(fs::path const& socket) {
    struct stat info{};
    if (::lstat(socket.c_str(), &info) != 0) return;
    if (!S_ISSOCK(info.st_mode) || info.st_uid != ::geteuid()) {
        throw std::runtime_error("socket " + shown(socket.native()) +
                                 ": something else is in its place");
    }
    ::unlink(socket.c_str());
}

std::string config_for(fs::path const& data, fs::path const& socket, fs::path const& log) {
    std::ostringstream out;
    out << "port 0\n"
        << "unixsocket " << config_argument(socket.native()) << "\n"
        << "unixsocketperm 700\n"
        << "dir " << config_argument(data.native()) << "\n"
        << "logfile " << config_argument(log.native()) << "\n"
        << "daemonize no\n"
        << "save \"\"\n"
        << "appendonly yes\n";
    return out.str();
}

}  // namespace

EmbeddedRedis::EmbeddedRedis(EmbeddedRedisOptions options) {
    auto const data = prepare_data(options.data);
    data_lock_ = lock_data(options.data, data);
    auto const socket = prepare_socket(options.socket);
    socket_lock_ = FileLock{socket.native() + ".lock", "socket " + shown(socket.native()),
                            "set another XDG_RUNTIME_DIR, or give --url"};
    remove_stale(socket);

    RedisProcessOptions process;
    process.socket = socket;
    process.log = data / log_name;
    process.config = config_for(data, socket, process.log);
    process.kept_open = {data_lock_.descriptor(), socket_lock_.descriptor()};
    process_.emplace(std::move(process));
    try {
        process_->wait_until_ready(options.start_limit);
    } catch (std::runtime_error const& error) {
        throw std::runtime_error(named(options.data) + ": " + error.what());
    }
    url_.unix_socket = socket;
}

EmbeddedRedis::~EmbeddedRedis() = default;

}  // namespace rollcall::redis

#include "redis/runtime_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.hpp"

namespace rollcall::redis {
namespace {

constexpr char const* socket_name = "redis.sock";

}  // namespace

std::filesystem::path runtime_directory() {
    if (auto const* base = std::getenv("XDG_RUNTIME_DIR"); base && *base == '/') {
        auto directory = std::filesystem::path{base} / "rollcall";
        std::error_code ignored;
        if (std::filesystem::is_directory(base, ignored) &&
            (directory / socket_name).native().size() <= longest_socket_path)
            return directory;
    }
    return "/tmp/rollcall-" + std::to_string(::geteuid());
}

std::filesystem::path embedded_socket() { return runtime_directory() / socket_name; }

std::optional<std::string> why_unsafe(std::filesystem::path const& directory) {
    struct stat info{};
    if (::lstat(directory.c_str(), &info) != 0) return std::strerror(errno);
    if (S_ISLNK(info.st_mode)) return "is a symbolic link";
    if (!S_ISDIR(info.st_mode)) return "is not a directory";
    if (info.st_uid != ::geteuid()) return "belongs to another user";
    if ((info.st_mode & 077) != 0) return "is open to other users";
    return std::nullopt;
}

void prepare_private_directory(std::filesystem::path const& directory) {
    auto const refuse_it = [&](std::string const& why) {
        throw std::runtime_error("directory " + shown(directory.native()) + ": " + why);
    };
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) refuse_it(std::strerror(errno));
    struct stat info{};
    if (::lstat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
        info.st_uid == ::geteuid()) {
        ::chmod(directory.c_str(), 0700);
    }
    if (auto const why = why_unsafe(directory)) refuse_it(*why);
}

}  // namespace rollcall::redis

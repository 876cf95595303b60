#include "redis/file_lock.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "core/deadline.hpp"

namespace rollcall::redis {
namespace {

constexpr std::chrono::seconds patience{10};
constexpr std::chrono::milliseconds between_looks{20};

pid_t holder_of(int descriptor) {
    char text[16] = {};
    auto const size = ::pread(descriptor, text, sizeof text, 0);
    pid_t holder = 0;
    if (size > 0) std::from_chars(text, text + size, holder);
    return holder;
}

bool is_running(pid_t process) {
    return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

bool write_holder(int descriptor) {
    auto const text = std::to_string(::getpid()) + '\n';
    return ::ftruncate(descriptor, 0) == 0 &&
           ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

FileLock::FileLock(std::filesystem::path const& file, std::string_view what,
                   std::string_view otherwise) {
    auto const fail = [&](std::string const& why) {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
        throw std::runtime_error(std::string{what} + ": " + why);
    };
    auto const fail_with_errno = [&] {
        std::error_code const error{errno, std::generic_category()};
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
        throw std::system_error{error, std::string{what}};
    };
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) fail_with_errno();
    auto const end = after(patience);
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) fail_with_errno();
        auto const holder = holder_of(descriptor_);
        if (is_running(holder) || std::chrono::steady_clock::now() > end) {
            fail("is in use by another rollcall" +
                 (holder > 0 ? ", process " + std::to_string(holder) : std::string{}) +
                 ": end that one, or " + std::string{otherwise});
        }
        std::this_thread::sleep_for(between_looks);
    }
    if (!write_holder(descriptor_)) fail_with_errno();
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace rollcall::redis

#include "registry/disk/snapshot_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/text.hpp"
#include "registry/disk/descriptor.hpp"
#include "registry/disk/snapshot_format.hpp"

namespace rollcall::disk {
namespace {

constexpr std::size_t longest_shown_name = 100;  // A name may have 255 bytes in all.

bool is_plain(char c) noexcept {
    return (c >= '0' && c <= '9') || (lower_case(c) >= 'a' && lower_case(c) <= 'z') || c == '-';
}

/// For who looks into the directory; what tells files apart is the digest behind it.
std::string shown_name(std::string_view service) {
    std::string name{service.substr(0, longest_shown_name)};
    std::ranges::replace_if(name, [](char c) { return !is_plain(c); }, '_');
    return name;
}

std::string digits_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (char const byte : sha256(bytes).substr(0, 10)) {
        auto const value = static_cast<unsigned char>(byte);
        text.push_back(digits[value >> 4]);
        text.push_back(digits[value & 15]);
    }
    return text;
}

Failure failure_of_system(std::string_view what) {
    auto const number = errno;
    return {std::error_code{number, std::generic_category()}, std::string{what}};
}

bool write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        auto const written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// As many as there are, up to `most`. None: an error.
std::optional<std::string> read_some(int descriptor, std::size_t most) {
    std::string bytes(most, '\0');
    std::size_t size = 0;
    while (size < most) {
        auto const got = ::read(descriptor, bytes.data() + size, most - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    return bytes;
}

int open_to_read(std::filesystem::path const& file) {
    // Not blocking: it may be a pipe that nobody writes to.
    return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/// Why what was opened is not believed, whatever it holds.
std::optional<std::string> why_not_ours(struct stat const& info) {
    if (S_ISDIR(info.st_mode)) return "is a directory";
    if (!S_ISREG(info.st_mode)) return "is no file";
    if (info.st_uid != ::geteuid()) return "belongs to another user";
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by other users";
    return std::nullopt;
}

bool is_later(std::filesystem::path const& file, std::string_view bytes) {
    Descriptor const there{open_to_read(file)};
    if (!there) return false;
    auto const beginning = read_some(there.number(), time_prefix_size);
    auto const theirs = beginning ? time_of(*beginning) : std::nullopt;
    // A clock that was set back must not keep us from writing.
    return theirs && theirs > time_of(bytes) && *theirs <= std::chrono::system_clock::now();
}

/// Whether `descriptor`, which we have locked, is still what `file` names: another process may have
/// made a snapshot of it in between.
bool is_named(int descriptor, std::filesystem::path const& file) {
    struct stat ours{};
    struct stat there{};
    return ::fstat(descriptor, &ours) == 0 && ::lstat(file.c_str(), &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace

SnapshotFolder::SnapshotFolder(std::filesystem::path directory, Origin origin)
    : directory_(std::move(directory)), origin_(std::move(origin)) {}

std::filesystem::path SnapshotFolder::file_of(std::string_view service) const {
    using namespace std::string_view_literals;
    auto const whole = joined(
        {origin_.server, "\0"sv, origin_.layout, "\0"sv, origin_.name_space, "\0"sv, service});
    return directory_ / joined({shown_name(service), ".", digits_of(whole), ".snapshot"});
}

Result<SnapshotFolder::Replaced> SnapshotFolder::replace(std::string_view service,
                                                         std::string_view bytes) const {
    auto const file = file_of(service);
    auto const draft = directory_ / joined({".", file.filename().native(), ".new"});
    Descriptor const opened{
        ::open(draft.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
    if (!opened) return failure_of_system("open " + shown(draft.native()));
    auto const to = opened.number();
    if (::flock(to, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return Replaced::busy;
        return failure_of_system("lock " + shown(draft.native()));
    }
    if (!is_named(to, draft)) return Replaced::busy;
    if (is_later(file, bytes)) {
        ::unlink(draft.c_str());
        return Replaced::outdated;
    }
    // What somebody left unfinished is begun anew.
    if (::fchmod(to, 0600) != 0 || ::ftruncate(to, 0) != 0 || !write_all(to, bytes) ||
        ::fsync(to) != 0) {
        auto failure = failure_of_system("write " + shown(draft.native()));
        ::unlink(draft.c_str());
        return failure;
    }
    if (::rename(draft.c_str(), file.c_str()) != 0) {
        auto failure = failure_of_system("rename to " + shown(file.native()));
        ::unlink(draft.c_str());
        return failure;
    }
    // A child that was forked meanwhile has the descriptor, too.
    ::flock(to, LOCK_UN);
    return Replaced::done;
}

Result<std::optional<std::string>> SnapshotFolder::read(std::string_view service,
                                                        std::size_t most) const {
    auto const file = file_of(service);
    auto const refused = [&](std::string const& why) {
        return Failure{std::make_error_code(std::errc::invalid_argument),
                       shown(file.native()) + " " + why};
    };
    Descriptor const from{open_to_read(file)};
    if (!from && errno == ENOENT) return std::optional<std::string>{};
    if (!from && errno == ELOOP) return refused("is a symbolic link");
    if (!from) return failure_of_system("open " + shown(file.native()));
    struct stat info{};
    if (::fstat(from.number(), &info) != 0) return failure_of_system("fstat");
    if (auto const why = why_not_ours(info)) return refused(*why);
    auto const size = static_cast<std::size_t>(info.st_size);
    if (size > most) return refused("has more than " + std::to_string(most) + " bytes");
    auto bytes = read_some(from.number(), size);
    if (!bytes) return failure_of_system("read " + shown(file.native()));
    return bytes;
}

}  // namespace rollcall::disk

#pragma once

#include <filesystem>
#include <utility>

namespace rollcall::redis {

/// A file that one process at a time holds, its id written in it. Freed when the holder ends in any
/// way, or, when children inherited the descriptor, when the last of them ends.
class FileLock {
public:
    FileLock() = default;
    /// Takes `file`, made when missing. A lock left over by a process that is gone, but whose child
    /// still shuts down, is waited for; a living holder is not.
    /// Errors: `std::runtime_error` that names `what`, the holder's process id, and that it is to
    /// be ended, or `otherwise`;
    /// `std::system_error` when the file cannot be opened or written.
    FileLock(std::filesystem::path const& file, std::string_view what, std::string_view otherwise);
    ~FileLock();
    FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

    int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
};

}  // namespace rollcall::redis

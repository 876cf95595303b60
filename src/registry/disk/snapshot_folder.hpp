#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "registry/disk/saved_service.hpp"

namespace rollcall::disk {

/// One file for each service of one origin, in a directory that others may use, too.
///
/// A file is replaced as a whole: whoever reads, and whatever ends us, finds the old one or the new
/// one. What is being written is locked, so that two never write the same.
///
/// Cost: all members wait for the disk. Thread safety: all members.
class SnapshotFolder {
public:
    SnapshotFolder(std::filesystem::path directory, Origin origin);

    Origin const& origin() const noexcept { return origin_; }
    std::filesystem::path file_of(std::string_view service) const;

    enum class Replaced {
        done,
        outdated,  ///< What is there was confirmed later, and stays.
        busy,      ///< Somebody else is writing it now.
    };
    /// Puts `bytes`, made by `encode`, in place of the file of `service`, readable for this user
    /// alone.
    Result<Replaced> replace(std::string_view service, std::string_view bytes) const;

    /// None when there is no file. Errors: what is not a file, is not this user's own or may be
    /// written by others, or has more than `most` bytes.
    Result<std::optional<std::string>> read(std::string_view service, std::size_t most) const;

private:
    std::filesystem::path const directory_;
    Origin const origin_;
};

}  // namespace rollcall::disk

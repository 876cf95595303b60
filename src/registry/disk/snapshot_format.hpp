#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "registry/disk/saved_service.hpp"

namespace rollcall::disk {

/// The bytes of a file: a line with the version of the format, the SHA-256 of what follows, and
/// that: origin, service and instances, numbers little-endian, texts behind their lengths.
std::string encode(Origin const& origin, SavedService const& saved);

struct Decoded {
    std::optional<SavedService> saved = {};
    std::string why = {};  ///< What is wrong with it, where there is none: `is damaged`.
};
/// Any bytes may be given; the cost is in proportion to their number.
Decoded decode(std::string_view bytes, Origin const& origin, std::string_view service);

/// When the content of a file that begins with `bytes` was confirmed, unless these are not the
/// beginning of one. A damaged one may say anything.
std::optional<std::chrono::system_clock::time_point> time_of(std::string_view bytes);
/// As many bytes of it are needed for that.
extern std::size_t const time_prefix_size;

/// Of any bytes, as 32 others.
std::string sha256(std::string_view bytes);

}  // namespace rollcall::disk

#pragma once

#include <string_view>

namespace rollcall {

/// The version of the library, as `major.minor.patch`.
std::string_view version() noexcept;

}  // namespace rollcall

#pragma once

#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall {

/// The version of the library, as `major.minor.patch`.
std::string_view version() noexcept;

}  // namespace rollcall

#pragma GCC visibility pop

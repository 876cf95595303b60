#pragma once

#include <string>
#include <system_error>

#include "core/result.hpp"

namespace rollcall::cli {

/// What to show of a failure: its meaning, then what Redis said. Foreign text.
inline std::string failure_text(std::error_code code, std::string const& detail) {
    return detail.empty() ? code.message() : code.message() + ": " + detail;
}
inline std::string failure_text(Failure const& failure) {
    return failure_text(failure.code(), failure.detail());
}

}  // namespace rollcall::cli

#pragma once

#include <span>
#include <string_view>
#include <system_error>

#include "rollcall/error.hpp"

namespace rollcall {

/// One row of `docs/errors.md`.
struct ErrcRow {
    errc code{};
    std::string_view name;
    std::string_view meaning;
    bool transient;
    int http_status;  ///< Of a server whose own call failed so.
    int exit_code;    ///< Of the program.
};

std::span<ErrcRow const> errc_table() noexcept;

/// The row of `code`; null for codes of other categories.
ErrcRow const* find_row(std::error_code code) noexcept;

}  // namespace rollcall

#include "cli/exit_code.hpp"

#include "core/errc_table.hpp"

namespace rollcall::cli {

Exit exit_for(std::error_code code) noexcept {
    auto const* row = find_row(code);
    return row ? static_cast<Exit>(row->exit_code) : Exit::failed;
}

}  // namespace rollcall::cli

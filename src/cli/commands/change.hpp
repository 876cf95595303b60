#pragma once

#include <string_view>

#include "cli/commands/instance_option.hpp"
#include "cli/context.hpp"

namespace rollcall::cli {

/// How every command that changes a stored instance ends: `Exit::not_found` when it was not there,
/// else a line, or `{"service","id",…,"announced"}`.
Exit report_change(Context& context, InstanceOption const& instance, Written const& written,
                   std::string_view done);

}  // namespace rollcall::cli

#pragma once

#include <string>
#include <vector>

#include "cli/context.hpp"

namespace rollcall::cli {

/// Warns that nobody knows `name`, as it is stored, and where it was looked for: a typo, maybe of
/// one of `known`.
void tell_unknown(Context& context, std::string const& name, std::vector<std::string> const& known);

}  // namespace rollcall::cli

#pragma once

#include "cli/context.hpp"

namespace rollcall::cli {

/// Warns when this Redis may evict entries. Says nothing when it cannot be asked: what follows
/// tells that.
void warn_of_eviction(Context& context);

}  // namespace rollcall::cli

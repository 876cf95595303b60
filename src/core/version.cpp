#include "rollcall/version.hpp"

namespace rollcall {

std::string_view version() noexcept { return ROLLCALL_VERSION; }

}  // namespace rollcall

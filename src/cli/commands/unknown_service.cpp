#include "cli/commands/unknown_service.hpp"

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "core/text.hpp"

namespace rollcall::cli {

void tell_unknown(Context& context, std::string const& name,
                  std::vector<std::string> const& known) {
    auto const near = nearest(name, known);
    auto const& settings = context.settings();
    context.logger().warning(fmt::format(
        "no service {} is known in {} (layout {}){}", shown(name), shown(settings.name_space()),
        settings.layout, near.empty() ? "" : "; did you mean " + shown(near) + "?"));
}

}  // namespace rollcall::cli

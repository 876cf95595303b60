#include "cli/startup_warning.hpp"

#include "cli/server_report.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cli {

void warn_of_eviction(Context& context) {
    auto const& core = context.backend().core();
    auto const facts = core->run([&core] { return server_facts(core, core->deadline()); });
    if (!facts) return;
    if (auto const finding = eviction_finding(*facts)) context.logger().warning(finding->text);
}

}  // namespace rollcall::cli

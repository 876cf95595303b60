#include "cli/commands/instance_option.hpp"

#include "core/text.hpp"

namespace rollcall::cli {

void InstanceOption::declare(OptionSet& options) {
    options.required("--service", id_.service, "NAME", "service of the instance");
    options.required("--id", id_.id, "ID", "id of the instance");
}

void InstanceOption::require_existed(Written const& written) const {
    if (written.existed) return;
    throw CommandError{Exit::not_found, "no instance " + shown(id_.id) + " of service " +
                                            shown(id_.service) + " is registered"};
}

}  // namespace rollcall::cli

#pragma once

#include <string>

#include "cli/commands/command.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::cli {

/// `--service` and `--id`: the instance that a command is about.
class InstanceOption {
public:
    void declare(OptionSet& options);
    InstanceId const& id() const noexcept { return id_; }

    /// Errors: `CommandError` with `Exit::not_found` when the instance was not there.
    void require_existed(Written const& written) const;

private:
    InstanceId id_;
};

}  // namespace rollcall::cli

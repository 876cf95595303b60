#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/context.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::cli {

/// The options that describe an instance to register.
class DescriptionOptions {
public:
    void declare(OptionSet& options, std::string const& port_help);

    int port() const;  ///< As it was given: 0 stands for that of the scheme.

    /// The instance as it will be stored. Without `--host` it gets this machine's address on the
    /// way to Redis, asked for until `deadline`: see `own_address`.
    /// Errors: `std::invalid_argument` for what no layout would store.
    ServiceInstance instance(Context& context, Deadline deadline) const;

private:
    std::string service_;
    std::string id_;
    std::string port_;
    std::string scheme_ = "http";
    std::string weight_ = "1";
    std::vector<std::string> metadata_;
    bool persistent_ = false;
};

}  // namespace rollcall::cli

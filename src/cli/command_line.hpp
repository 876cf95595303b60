#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/settings.hpp"

namespace rollcall::cli {

/// What a command line asks for: a command, or a text to print.
struct CommandLine {
    std::unique_ptr<Command> command = {};
    CommandRow const* row = nullptr;
    GivenOptions settings = {};
    std::string help = {};    ///< To print instead; empty when a command is to run.
    bool has_command = true;  ///< False: `help` is there because no command was named.
};

/// Errors: `UsageError`; for an unknown command or option with the nearest known one.
CommandLine parse_command_line(std::vector<std::string> const& arguments);

/// The one of `known` that `word` may have meant; empty when none is near.
std::string nearest(std::string const& word, std::vector<std::string> const& known);

}  // namespace rollcall::cli

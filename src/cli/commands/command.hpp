#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"

namespace rollcall::cli {

class Context;

/// Where a command declares its options; all values arrive as text. Hides CLI11, which is dear to
/// compile. What is given stays untouched when an option is absent.
///
/// Errors while parsing: `UsageError`, for an option twice, without its value, or missing.
class OptionSet {
public:
    virtual ~OptionSet() = default;

    /// `names` as on the command line: `--all`, or `-a,--all`.
    virtual void flag(std::string const& names, bool& into, std::string const& help) = 0;
    /// What is given must not be empty.
    virtual void value(std::string const& names, std::string& into, std::string const& type,
                       std::string const& help) = 0;
    /// Must be given as well.
    virtual void required(std::string const& names, std::string& into, std::string const& type,
                          std::string const& help) = 0;
    /// The same, once or more often; each time takes one value.
    virtual void required_many(std::string const& names, std::vector<std::string>& into,
                               std::string const& type, std::string const& help) = 0;
    /// May be given many times; each time takes one value.
    virtual void repeated(std::string const& names, std::vector<std::string>& into,
                          std::string const& type, std::string const& help) = 0;
    virtual void positional(std::string const& name, std::string& into,
                            std::string const& help) = 0;
    /// One or more.
    virtual void positionals(std::string const& name, std::vector<std::string>& into,
                             std::string const& help) = 0;
    /// None or more.
    virtual void any_positionals(std::string const& name, std::vector<std::string>& into,
                                 std::string const& help) = 0;
    /// An option that is one of the settings, and arrives there.
    virtual void setting(std::string const& name, std::string const& type,
                         std::string const& help) = 0;
    /// One or more arguments behind `--`, untouched.
    virtual void rest(std::string const& name, std::vector<std::string>& into,
                      std::string const& help) = 0;
};

/// One command of the program: declares its options, then runs once.
class Command {
public:
    virtual ~Command() = default;
    virtual void declare(OptionSet& options) = 0;
    virtual Exit run(Context& context) = 0;
};

/// A row of the table of commands.
struct CommandRow {
    std::string_view name;  ///< One or two words.
    std::string_view summary;
    std::string_view example;
    std::unique_ptr<Command> (*make)();
    bool standalone = false;  ///< Needs no registry, and no config file that may be broken.
};

std::span<CommandRow const> command_table() noexcept;

}  // namespace rollcall::cli

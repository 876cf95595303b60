#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/text.hpp"

namespace rollcall::cli {

/// How the program ends; part of its contract (`docs/cli.md`).
enum class Exit {
    done = 0,
    failed = 1,
    usage = 2,  ///< Bad options or input; nothing was sent.
    not_found = 3,
    unreachable = 4,  ///< Redis cannot be reached, or cannot serve now.
    timed_out = 5,
};

/// The exit code for a failed operation.
Exit exit_for(std::error_code code) noexcept;

/// Bad input, in the one form of all messages about it: name, value, rule.
class UsageError : public std::invalid_argument {
public:
    explicit UsageError(std::string const& message) : std::invalid_argument(message) {}
    UsageError(std::string_view name, std::string_view value, std::string_view rule)
        : std::invalid_argument(std::string{name} + ' ' + shown(value) + ": " + std::string{rule}) {
    }
};

/// A command's failure with the code that it ends with.
class CommandError : public std::runtime_error {
public:
    CommandError(Exit exit, std::string const& message)
        : std::runtime_error(message), exit_(exit) {}

    Exit exit() const noexcept { return exit_; }

private:
    Exit exit_;
};

}  // namespace rollcall::cli

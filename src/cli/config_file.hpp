#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rollcall::cli {

/// A setting's text and where it was written: an option, a variable, or a line of a file.
struct Sourced {
    std::string text = {};
    std::string source = {};

    friend bool operator==(Sourced const&, Sourced const&) = default;
};

/// What a config file sets, by key.
using ConfigValues = std::map<std::string, Sourced, std::less<>>;

/// Reads a TOML file of plain `key = value` lines: strings, and integers where a duration is
/// counted in seconds.
///
/// Errors: `UsageError` that names file, line and rule for what cannot be read, is not TOML, or
/// has a key that is not among the settings. A missing file is an error too, and one that is not
/// regular or larger than 1 MiB; `name` says there where the path was given.
ConfigValues read_config_file(std::string const& path, std::string_view name);

/// The same from text; `path` is for messages.
ConfigValues parse_config(std::string_view text, std::string const& path);

}  // namespace rollcall::cli

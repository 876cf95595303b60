#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/config_file.hpp"

namespace rollcall::cli {

enum class Format { table, json, wide };

/// The settings that options, variables and the config file share, by the name of the option.
inline constexpr std::string_view setting_names[] = {"url",    "layout",  "namespace", "lease",
                                                     "output", "timeout", "host",      "data"};

/// The settings given on the command line, by name.
using GivenOptions = std::map<std::string, std::string, std::less<>>;

/// Reads an environment variable; none when it is not set.
using Environment = std::function<std::optional<std::string>(std::string const& name)>;

/// What every command knows: resolved from, in this order, the command line, `ROLLCALL_*`
/// variables, the config file, and defaults. An empty variable counts as not set.
struct Settings {
    std::string url = {};              ///< Empty: the library's own default. May hold a password.
    std::string url_source = {};       ///< Where it was written, for messages; so the next one.
    std::string layout = "streaming";  ///< Or `cosky`.
    std::string key_prefix = {};       ///< `--namespace`; empty: the layout's default.
    std::string key_prefix_source = {};
    std::chrono::seconds lease{90};  ///< See `default_lease` for that of other layouts.
    /// How often this process renews instances: of commands, not of users. None: not known.
    std::optional<std::chrono::milliseconds> heartbeat = {};
    Format output = Format::table;
    std::chrono::milliseconds timeout{2'000};
    /// `--timeout` itself, for commands that have another default.
    std::optional<std::chrono::milliseconds> given_timeout = {};
    std::string host = {};  ///< Empty: found out when needed.
    std::string data = {};  ///< Empty: `default_data_folder`.

    /// `--namespace`, or the layout's default.
    std::string name_space() const;

    /// Errors: `UsageError` with the source, value and rule.
    static Settings resolve(GivenOptions const& given, Environment const& environment);
};

std::chrono::seconds default_lease(std::string_view layout) noexcept;

/// The process's own variables.
std::optional<std::string> process_environment(std::string const& name);

/// `$XDG_CONFIG_HOME/rollcall/config.toml`, else under `~/.config`; empty when neither is known.
std::string default_config_path(Environment const& environment);

/// `$XDG_DATA_HOME/rollcall`, else `~/.local/share/rollcall`.
/// Errors: `UsageError` when neither variable is set.
std::string default_data_folder(Environment const& environment);

}  // namespace rollcall::cli
